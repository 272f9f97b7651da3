/* The report that EMULATOR_COUNTERS asks for, written when the program ends. The rest is in emulator.h (what programs can ask)
 * and warp.h (what the executor tells). */
#ifndef COUNTERS_H
#define COUNTERS_H
void counters_report_at_exit(void);
#endif
