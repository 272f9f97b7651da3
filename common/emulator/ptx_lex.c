/* The lexer: one pass, no copies; tokens point into the module's text. */
#include "ptx_lex.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void lex_start(struct lexer *lexer, const char *text, uint64_t bytes)
{
    *lexer = (struct lexer){.at = text, .end = text + bytes, .line_start = text, .line = 1};
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* Skips white space and comments. False: a comment that never ends. */
static bool skip_blank(struct lexer *lexer)
{
    while (lexer->at < lexer->end) {
        if (*lexer->at == '\n') {
            lexer->line++;
            lexer->line_start = ++lexer->at;
        } else if (isspace((unsigned char)*lexer->at)) {
            lexer->at++;
        } else if (lexer->end - lexer->at >= 2 && !memcmp(lexer->at, "//", 2)) {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else if (lexer->end - lexer->at >= 2 && !memcmp(lexer->at, "/*", 2)) {
            lexer->at += 2;
            for (;; lexer->at++) {
                if (lexer->end - lexer->at < 2)
                    return false;
                if (!memcmp(lexer->at, "*/", 2))
                    break;
                if (*lexer->at == '\n') {
                    lexer->line++;
                    lexer->line_start = lexer->at + 1;
                }
            }
            lexer->at += 2;
        } else {
            break;
        }
    }
    return true;
}

/* A name with its dotted parts; "L1::no_allocate" is one part. */
static void lex_word(struct lexer *lexer)
{
    const char *at = lexer->at, *end = lexer->end;
    const bool directive = *at == '.'; /* .reg.b32 is two */

    for (;;) {
        if (*at == '.')
            at++;
        while (at < end && is_word(*at))
            at++;
        if (end - at >= 3 && at[0] == ':' && at[1] == ':' && is_word(at[2]))
            at += 2;
        else if (directive || !(end - at >= 2 && at[0] == '.' && is_word(at[1])))
            break;
    }
    lexer->at = at;
}

static void lex_number(struct lexer *lexer, struct token *token)
{
    char digits[64] = "", *stop;
    size_t length = 0;
    const char *at = lexer->at, *end = lexer->end;
    bool hexadecimal = end - at > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    bool bits = end - at > 1 && at[0] == '0' && strchr("fFdD", at[1]);

    token->kind = TOKEN_NUMBER;
    if (bits || hexadecimal) {
        for (at += 2; at < end && isxdigit((unsigned char)*at) && length < sizeof digits - 1; at++)
            digits[length++] = *at;
        token->value = strtoull(digits, NULL, 16);
        if (bits)
            token->float_bits = tolower((unsigned char)lexer->at[1]) == 'f' ? 32 : 64;
        if (length == 0 || (bits && length != token->float_bits / 4u))
            token->kind = TOKEN_BAD;
    } else {
        while (at < end && (isalnum((unsigned char)*at) || *at == '.' || ((*at == '+' || *at == '-') && strchr("eE", at[-1]))) &&
               length < sizeof digits - 1)
            digits[length++] = *at++;
        if (length && (digits[length - 1] == 'U' || digits[length - 1] == 'u'))
            digits[length - 1] = '\0';
        token->value = strtoull(digits, &stop, digits[0] == '0' && !strchr(digits, '.') ? 0 : 10);
        if (*stop) {
            double real = strtod(digits, &stop);
            memcpy(&token->value, &real, sizeof real);
            token->float_bits = 64;
            if (*stop)
                token->kind = TOKEN_BAD;
        }
    }
    if (at < end && (*at == 'U' || *at == 'u'))
        at++;
    lexer->at = at;
}

void lex_next(struct lexer *lexer, struct token *token)
{
    bool ended = skip_blank(lexer);

    *token = (struct token){
        .kind = TOKEN_END, .text = lexer->at, .line = lexer->line, .column = (uint32_t)(lexer->at - lexer->line_start) + 1};
    if (!ended) {
        token->kind = TOKEN_BAD;
        lexer->at = lexer->end;
    } else if (lexer->at >= lexer->end || *lexer->at == '\0') {
        return;
    } else if (isdigit((unsigned char)*lexer->at)) {
        lex_number(lexer, token);
    } else if (is_word(*lexer->at) || (*lexer->at == '.' && lexer->end - lexer->at > 1 && is_word(lexer->at[1]))) {
        token->kind = TOKEN_WORD;
        lex_word(lexer);
    } else if (*lexer->at == '"') {
        const char *close = memchr(lexer->at + 1, '"', (size_t)(lexer->end - lexer->at - 1));
        token->kind = close ? TOKEN_STRING : TOKEN_BAD;
        token->text = lexer->at + 1;
        lexer->at = close ? close : lexer->end;
        token->length = (uint32_t)(lexer->at - token->text);
        lexer->at += close ? 1 : 0;
        return;
    } else {
        token->kind = strchr("()[]{}<>,;:@!|+-=*/&~?", *lexer->at) ? TOKEN_MARK : TOKEN_BAD;
        token->mark = *lexer->at++;
    }
    token->length = (uint32_t)(lexer->at - token->text);
}
