/* What the environment asks for, read once. A value that is not understood ends the program with one sentence and status 2.
 *   EMULATOR_THREADS   1…1024 host threads for blocks (default: the processors this process may use)
 *   EMULATOR_COUNTERS  on (default) | off | text (a report on stderr at exit) | json:FILE
 *   EMULATOR_ANNOTATE  text (source lines with their counts, on stderr at exit) | json:FILE
 *   EMULATOR_TRACE     [block=N,][warp=N,]json:FILE   one block's instructions and accesses (default block 0, all its warps)
 *   EMULATOR_CHECK     all | none | a list of race,init,sync,leak (default sync; bounds and alignment are always checked)
 *   EMULATOR_SCHEDULE  ordered (default) | reversed | random:SEED   the order of warps in a block and of blocks
 *   EMULATOR_TIMEOUT   warp instructions after which a warp is taken to run for ever (default 4294967296; 0: never)
 *   EMULATOR_TIME      on | off (default): at exit, how many warp instructions the launches took, and how long, on stderr
 *   EMULATOR_DEVICES   1…16 emulated devices (default 1) */
#ifndef SETTINGS_H
#define SETTINGS_H
#include <stdbool.h>
#include <stdint.h>

enum schedule { SCHEDULE_ORDERED, SCHEDULE_REVERSED, SCHEDULE_RANDOM };
enum { CHECK_RACE = 1, CHECK_INIT = 2, CHECK_SYNC = 4, CHECK_LEAK = 8 };

struct settings {
    int threads;
    bool count, counters_text;
    const char *counters_json; /* a path, or NULL */
    bool annotate_text;
    const char *annotate_json; /* a path, or NULL */
    const char *trace_json;    /* a path, or NULL */
    uint64_t trace_block;
    int trace_warp; /* -1: all */
    unsigned checks;
    enum schedule schedule;
    uint64_t schedule_seed;
    uint64_t timeout;
    bool time;
    int devices;
};
const struct settings *settings(void);
#endif
