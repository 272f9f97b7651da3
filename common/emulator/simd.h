/* What a plain loop over 32 lanes does not turn into good SIMD by itself: signs as bits, and memory of some lanes alone. Each has a
 * form in plain C, for processors that have no better one. */
#ifndef SIMD_H
#define SIMD_H
#include "ptx.h"
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define EACH_OF(mask) for (uint32_t rest_ = (mask), i; rest_ && (i = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

/* The signs of 32 numbers as bits: comparisons make them, as wide as what they compare. */
static inline uint32_t signs_of_32(const int32_t *numbers)
{
    uint32_t bits = 0;

#ifdef __AVX2__
    for (int i = 0; i < 32; i += 8)
        bits |= (uint32_t)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(const void *)(numbers + i))) << i;
#elif defined __SSE2__
    for (int i = 0; i < 32; i += 4)
        bits |= (uint32_t)_mm_movemask_ps(_mm_loadu_ps((const float *)(const void *)(numbers + i))) << i;
#else
    for (int i = 0; i < 32; i++)
        bits |= (uint32_t)(numbers[i] < 0) << i;
#endif
    return bits;
}

static inline uint32_t signs_of_64(const int64_t *numbers)
{
    uint32_t bits = 0;

#ifdef __AVX2__
    for (int i = 0; i < 32; i += 4)
        bits |= (uint32_t)_mm256_movemask_pd(_mm256_loadu_pd((const double *)(const void *)(numbers + i))) << i;
#elif defined __SSE2__
    for (int i = 0; i < 32; i += 2)
        bits |= (uint32_t)_mm_movemask_pd(_mm_loadu_pd((const double *)(const void *)(numbers + i))) << i;
#else
    for (int i = 0; i < 32; i++)
        bits |= (uint32_t)(numbers[i] < 0) << i;
#endif
    return bits;
}

/* Copies the lanes that take part, of 4 or 8 bytes each; touches nothing else, since other lanes' memory may not be there or may be
 * another thread's. */
#ifdef __AVX2__
static inline void load_lanes(char *to, const char *from, unsigned lane_bytes, const struct lanes *lanes)
{
    if (lane_bytes == 4) {
        for (int i = 0; i < 32; i += 8) {
            __m256i some = _mm256_loadu_si256((const __m256i *)(const void *)(lanes->mask + i));
            __m256i *row = (__m256i *)(void *)(to + 4 * i);
            __m256i new = _mm256_maskload_epi32((const int *)(const void *)(from + 4 * i), some);
            _mm256_storeu_si256(row, _mm256_blendv_epi8(_mm256_loadu_si256(row), new, some));
        }
    } else {
        for (int i = 0; i < 32; i += 4) {
            __m256i some = _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(const void *)(lanes->mask + i)));
            __m256i *row = (__m256i *)(void *)(to + 8 * i);
            __m256i new = _mm256_maskload_epi64((const long long *)(const void *)(from + 8 * i), some);
            _mm256_storeu_si256(row, _mm256_blendv_epi8(_mm256_loadu_si256(row), new, some));
        }
    }
}

static inline void store_lanes(char *to, const char *from, unsigned lane_bytes, const struct lanes *lanes)
{
    if (lane_bytes == 4) {
        for (int i = 0; i < 32; i += 8) {
            __m256i some = _mm256_loadu_si256((const __m256i *)(const void *)(lanes->mask + i));
            __m256i row = _mm256_loadu_si256((const __m256i *)(const void *)(from + 4 * i));
            _mm256_maskstore_epi32((int *)(void *)(to + 4 * i), some, row);
        }
    } else {
        for (int i = 0; i < 32; i += 4) {
            __m256i some = _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(const void *)(lanes->mask + i)));
            __m256i row = _mm256_loadu_si256((const __m256i *)(const void *)(from + 8 * i));
            _mm256_maskstore_epi64((long long *)(void *)(to + 8 * i), some, row);
        }
    }
}
#else
static inline void load_lanes(char *to, const char *from, unsigned lane_bytes, const struct lanes *lanes)
{
    if (lane_bytes == 4)
        EACH_OF (lanes->bits)
            memcpy(to + 4 * i, from + 4 * i, 4);
    else
        EACH_OF (lanes->bits)
            memcpy(to + 8 * i, from + 8 * i, 8);
}

static inline void store_lanes(char *to, const char *from, unsigned lane_bytes, const struct lanes *lanes)
{
    load_lanes(to, from, lane_bytes, lanes);
}
#endif

/* All 32 lanes, of 4 bytes each, from `offset` of each lane on. */
static inline void gather_32(char *to, const char *from, const int32_t *offset)
{
#ifdef __AVX2__
    for (int i = 0; i < 32; i += 8) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(offset + i));
        _mm256_storeu_si256((__m256i *)(void *)(to + 4 * i), _mm256_i32gather_epi32((const int *)(const void *)from, at, 1));
    }
#else
    for (int i = 0; i < 32; i++)
        memcpy(to + 4 * i, from + offset[i], 4);
#endif
}
#endif
