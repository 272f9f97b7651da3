/* PTX text to tokens. */
#ifndef PTX_LEX_H
#define PTX_LEX_H
#include <stdbool.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* a name, opcode or directive with its dots: %r1, ld.global.u32, .reg, $L__BB0_2 */
    TOKEN_NUMBER, /* `value`; for 0f…/0d… and decimals the bits, with float_bits 32 or 64 */
    TOKEN_STRING, /* without its quotes */
    TOKEN_MARK,   /* one character of punctuation, in `mark` */
    TOKEN_BAD     /* a character PTX does not have, or an unfinished string or comment */
};

struct token {
    enum token_kind kind;
    const char *text;
    uint32_t length, line, column; /* line and column count from 1 */
    uint64_t value;
    uint8_t float_bits;
    char mark;
};

struct lexer {
    const char *at, *end, *line_start;
    uint32_t line;
};

void lex_start(struct lexer *lexer, const char *text, uint64_t bytes);
void lex_next(struct lexer *lexer, struct token *token);
#endif
