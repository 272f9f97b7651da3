/* Faults: what a kernel did wrong, as one report on stderr and one CUDA error.
 * The report: "fault: KERNEL block (x,y,z) thread (x,y,z) [warp w lane l], FILE.ptx:LINE (SOURCE.cu:LINE): TEXT", then a line that
 * says how to mend it. */
#ifndef FAULT_H
#define FAULT_H
#include <stdbool.h>

/* The emulator found a fault that the program may not notice (a race, uninitialised memory, a sync fault whose error the program
 * did not check, a leak): the process then ends with this status even if main returns 0. */
enum { FAULT_EXIT_STATUS = 86 };
void fault_note_exit(void);  /* at exit: leave with FAULT_EXIT_STATUS unless main already failed */
bool fault_seen(void);
#endif
