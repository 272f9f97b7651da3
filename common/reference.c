/* What a sum must be, and how far from it a correct kernel may end.
 *
 * int: exact in 64 bits, so the check is equality.
 * float and double: the reference carries a second double with what the first one lost (TwoSum: Knuth, TAOCP 2, 4.2.2, theorem B),
 * so its own error is some 2^-106. In the kernel every element passes through at most k additions, whatever their order; then
 * |got - want| <= gamma(k) * sum |x|, gamma(k) = k u / (1 - k u), u half the distance from 1 to the next number (Higham, Accuracy
 * and Stability of Numerical Algorithms, 2nd ed., 4.2). Storing a float sum in a double is exact, and so is subtracting the
 * reference from a value that close to it, so nothing more is allowed for. */
#include "protocol.h"

#include <float.h>
#include <math.h>

bool close_enough(double got_minus_want, double bound)
{ /* NaN compares false, so NaN fails */
    return fabs(got_minus_want) <= bound;
}

#if TYPE_IS_INT
struct reference reference_sum(const element *x, size_t n)
{
    struct reference r = {0};
    for (size_t i = 0; i < n; i++)
        r.sum += x[i];
    return r;
}

double error_bound(double magnitude, size_t additions, bool as_total)
{
    (void)magnitude, (void)additions, (void)as_total;
    return 0;
}

bool agrees(total got, struct reference want)
{
    return got == want.sum;
}

void add_reference(struct reference *sum, struct reference part)
{
    sum->sum += part.sum;
}
#else
/* high + low + x, with the rounding error of high + x kept in low. */
static inline void add_keeping_error(double *high, double *low, double x)
{
    double sum = *high + x;
    double back = sum - *high;
    *low += (*high - (sum - back)) + (x - back);
    *high = sum;
}

struct reference reference_sum(const element *x, size_t n)
{
    enum { LANES = 8 }; /* independent chains, which the compiler puts into SIMD registers */
    double high[LANES] = {0}, low[LANES] = {0}, magnitude[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (unsigned lane = 0; lane < LANES; lane++) {
            double value = (double)x[i + lane];
            add_keeping_error(&high[lane], &low[lane], value);
            magnitude[lane] += fabs(value);
        }
    for (; i < n; i++) {
        add_keeping_error(&high[0], &low[0], (double)x[i]);
        magnitude[0] += fabs((double)x[i]);
    }
    for (unsigned lane = 1; lane < LANES; lane++) {
        add_keeping_error(&high[0], &low[0], high[lane]);
        low[0] += low[lane];
        magnitude[0] += magnitude[lane];
    }
    return (struct reference){high[0], low[0], magnitude[0], 0};
}

double error_bound(double magnitude, size_t additions, bool as_total)
{
    double unit = !as_total && sizeof(element) == sizeof(float) ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    double k = (double)additions * unit;
    return k / (1 - k) * magnitude;
}

bool agrees(total got, struct reference want)
{ /* an infinite reference is our bug, not a pass */
    return isfinite(want.sum) && close_enough((got - want.sum) - want.low, want.bound);
}

void add_reference(struct reference *sum, struct reference part)
{
    add_keeping_error(&sum->sum, &sum->low, part.sum);
    sum->low += part.low;
    sum->magnitude += part.magnitude;
    sum->bound += part.bound;
}
#endif

/* The most additions that an element passes through on its way into one of the sums: a thread adds its share of the tiles, one
 * after another, and a block adds up its threads as a tree; when one sum is left in all, the same once more over the grid's sums.
 */
size_t additions_to_sum(enum sums_are sums_are, size_t n, size_t tile, unsigned block, unsigned grid)
{
    size_t tree = 0, most_tiles = (blocks_for(n, tile) - 1) / grid + 1;
    while ((1U << tree) < block)
        tree++;
    size_t additions = most_tiles * (tile / block) - 1 + tree;
    if (sums_are == ONE_IN_ANY_ORDER)
        additions += grid - 1;
    if (sums_are == ONE_IN_ALL)
        additions += (grid - 1) / block + tree;
    return additions;
}

total cpu_sum(const element *x, size_t n)
{
    total sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}
