/* Faults: what a kernel did wrong, as one report on stderr and one CUDA error.
 * The report: "fault: KERNEL block (x,y,z) thread (x,y,z) [warp w lane l], FILE.ptx:LINE (SOURCE.cu:LINE): TEXT", then a line that
 * says how to mend it. */
#ifndef FAULT_H
#define FAULT_H
#include <stdbool.h>

/* A check (race, init, sync) found something, or memory was misused and the program asked for no error: the process then ends with
 * this status even if main returns 0. */
enum { FAULT_EXIT_STATUS = 86 };
bool fault_seen(void);
void fault_asked(void);                  /* the program asks what went wrong */
void fault_launch_refused(char *report); /* told at exit if it never does; from malloc, may be NULL */
#endif
