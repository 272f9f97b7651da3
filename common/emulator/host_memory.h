/* What the machine can still give, in bytes: the smaller of /proc/meminfo and the limits of this process's cgroups. */
#ifndef HOST_MEMORY_H
#define HOST_MEMORY_H
#include <stddef.h>

size_t host_memory_total(void);

/* `in_use`: bytes already handed out as device memory. The host counts a page only once it is touched, so what was promised but
 * not yet touched has to be taken off here. */
size_t host_memory_available(size_t in_use);
#endif
