/* Fuzzes the search for PTX in a fatbinary: what it finds has to lie inside the bytes it was given. */
#include "../../common/emulator/fatbin.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *problem = NULL;
    struct fatbin_ptx ptx;

    if (!fatbin_find_ptx(data, bytes, &ptx, &problem)) {
        if (!problem)
            abort();
        return 0;
    }
    size_t at = (size_t)(ptx.text - (const char *)data);
    if (!ptx.bytes || at > bytes || ptx.bytes > bytes - at || ptx.target <= 0 || !ptx.text[ptx.bytes - 1])
        abort();
    return 0;
}
