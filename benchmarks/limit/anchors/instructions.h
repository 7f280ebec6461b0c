// What is written with the processor's own instructions, for AVX-512 and for AVX2. A vector of eight numbers is one
// register of AVX-512, and two of AVX2.
#pragma once
#include <immintrin.h>

#include "anchor.h"

#ifdef __AVX512F__

// Fourteen bits of 1 / x from the processor, then two steps of Newton, of the third and of the second order.
static inline double8 reciprocal(double8 x) {
    double8 y = (double8)_mm512_rcp14_pd((__m512d)x), e = 1.0 - x * y;
    y = y + y * (e + e * e);
    e = 1.0 - x * y;
    return y + y * e;
}

// x^-1/2 in the same way.
static inline double8 inverse_root(double8 x) {
    double8 y = (double8)_mm512_rsqrt14_pd((__m512d)x);
    double8 e = 1.0 - x * y * y;
    y = y + y * e * (0.5 + 0.375 * e);
    e = 1.0 - x * y * y;
    return y + 0.5 * y * e;
}

// x = 2^n m with m in [0.75, 1.5).
static inline double8 split_exponent(double8 x, double8 &m) {
    double8 n = (double8)_mm512_getexp_pd((__m512d)(x * (4.0 / 3.0)));
    m = (double8)_mm512_scalef_pd((__m512d)x, (__m512d)-n);
    return n;
}

// The elements of an array at `scale` times eight positions.
template <int scale = 1> static inline double8 gather8(const double *from, const int64_t *positions) {
    __m512i at = _mm512_loadu_si512(positions);
    if (scale != 1) at = _mm512_mullo_epi64(at, _mm512_set1_epi64(scale));
    return (double8)_mm512_i64gather_pd(at, from, 8);
}

static inline double8 gather8(const double *from, const int32_t *positions) {
    return (double8)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)positions), from, 8);
}

#else

// The processor divides four numbers in the time of some eight multiplications, as Newton's steps from its twelve bits
// of a binary32 number would take.
static inline double8 reciprocal(double8 x) { return 1.0 / x; }

static inline double8 inverse_root(double8 x) {
    union {
        double8 all;
        __m256d halves[2];
    } root = {x};
    root.halves[0] = _mm256_sqrt_pd(root.halves[0]);
    root.halves[1] = _mm256_sqrt_pd(root.halves[1]);
    return 1.0 / root.all;
}

static inline double8 split_exponent(double8 x, double8 &m) {
    const double magic = 4503599627370496.0;  // 2^52: its last bits are those of a whole number that is added
    int8x bits = (int8x)(x * (4.0 / 3.0)) >> 52;
    m = (double8)((int8x)x - ((bits - 1023) << 52));
    return (double8)(bits | (int8x)all8(magic)) - (magic + 1023.0);
}

template <int scale = 1> static inline double8 gather8(const double *from, const int64_t *positions) {
    double8 found;
    for (int i = 0; i < 8; i++) found[i] = from[scale * positions[i]];
    return found;
}

static inline double8 gather8(const double *from, const int32_t *positions) {
    double8 found;
    for (int i = 0; i < 8; i++) found[i] = from[positions[i]];
    return found;
}

#endif
