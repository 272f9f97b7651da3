/* Numbers of our own, the same on every machine: element i depends on the seed and on i alone (a counter-based generator), so any
 * part of the array can be made again, in any order. The mixing is splitmix64 (Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", 2014). */
#include "protocol.h"

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static element from_bits(uint64_t bits)
{
#if defined TYPE_float
    return (float)(bits >> 40) * 0x1p-24f; /* a multiple of 2^-24 in [0, 1): exact in a float */
#elif defined TYPE_double
    return (double)(bits >> 11) * 0x1p-53; /* a multiple of 2^-53 in [0, 1): exact in a double */
#else
    return (int)(((bits >> 32) * 1000) >> 32); /* 0 to 999 */
#endif
}

static uint64_t start_of(uint64_t seed)
{ /* mixed, so that neighbouring seeds do not give shifted copies of one sequence */
    return mix(seed + 0x9e3779b97f4a7c15u);
}

element random_element(uint64_t seed, size_t index)
{
    return from_bits(mix(start_of(seed) + (index + 1) * 0x9e3779b97f4a7c15u));
}

void random_fill_from(element *out, size_t first, size_t count, uint64_t seed)
{
    const size_t chunk = (size_t)1 << 22;
    uint64_t state = start_of(seed) + first * 0x9e3779b97f4a7c15u;
    for (size_t done = 0; done < count;) {
        size_t end = count - done < chunk ? count : done + chunk;
        for (; done < end; done++)
            out[done] = from_bits(mix(state += 0x9e3779b97f4a7c15u));
        progress("making the numbers", done, count);
    }
}

void random_fill(element *out, size_t count, uint64_t seed)
{
    random_fill_from(out, 0, count, seed);
}
