/* Which rows of common/emulator/ops.def a list of opcodes reaches. Linked with the emulator's own objects, so it reads its tables.
 * Standard input: opcodes, one a line. Prints "row NAME" for every row or variant that none of them resolves to. */
#include "../common/emulator/ops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static bool row_seen[OP_COUNT], variant_seen[1 << 14], type_seen[OP_COUNT][TYPE_COUNT];
    char line[256], *problem;
    int missing = 0;

    while (fgets(line, sizeof line, stdin)) {
        struct opcode opcode;
        line[strcspn(line, "\n")] = '\0';
        if (!op_resolve(line, &opcode, &problem)) {
            free(problem);
            continue;
        }
        row_seen[opcode.op - ops] = true;
        type_seen[opcode.op - ops][opcode.type] = true;
        for (unsigned i = 0; opcode.variant && variants[i].op != OP_COUNT; i++)
            variant_seen[i] |= variants[i].op == opcode.variant->op && !memcmp(variants[i].types, opcode.variant->types, 2);
    }
    for (unsigned i = 0; variants[i].op != OP_COUNT; i++)
        if (!variant_seen[i] && ops[variants[i].op].mnemonic[0] != '=') {
            printf("row %s", ops[variants[i].op].mnemonic);
            for (int k = 0; k < 2 && variants[i].types[k] != T_none; k++)
                printf(".%s", type_names[variants[i].types[k]]);
            putchar('\n');
            missing++;
        }
    for (int op = 0; op < OP_COUNT; op++)
        for (int t = 0; ops[op].kind == ROW_WARP && ops[op].mnemonic[0] != '=' && t < TYPE_COUNT; t++)
            if (ops[op].types ? (ops[op].types >> t & 1) && !type_seen[op][t] : t == 0 && !row_seen[op]) {
                printf("row %s%s%s\n", ops[op].mnemonic, t ? "." : "", type_names[t]);
                missing++;
            }
    return missing != 0;
}
