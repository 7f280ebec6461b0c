// What the anchors share: the signature, memory that is kept between calls and counted, vectors of eight numbers.
//
// An anchor is a function
//     double anchor(const void *const *in, const int64_t *sizes, void *const *out)
// that returns the value and writes the gradients. `in` has the arrays in the order of the program's arguments, `sizes`
// their shapes one after the other, `out` an array for each gradient, not initialised.
#pragma once
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

static size_t kept_bytes = 0;

// Bytes of working memory: results are not counted.
EXPORT int64_t anchor_bytes() { return (int64_t)kept_bytes; }

// Memory that grows when it has to, and is kept for the next call.
template <class T> struct Buffer {
    T *data = nullptr;
    size_t size = 0;
    T *get(size_t count) {
        if (count > size) {
            free(data);
            kept_bytes += (count - size) * sizeof(T);
            data = (T *)aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64);
            size = count;
        }
        return data;
    }
};

typedef double double8 __attribute__((vector_size(64)));
typedef double double8u __attribute__((vector_size(64), aligned(8)));
typedef float float16 __attribute__((vector_size(64)));
typedef float float16u __attribute__((vector_size(64), aligned(4)));
typedef int64_t int8x __attribute__((vector_size(64)));

static inline double8 load8(const double *p) { return *(const double8u *)p; }
static inline void store8(double *p, double8 v) { *(double8u *)p = v; }
static inline double8 all8(double x) { return x - double8{}; }
static inline double sum8(double8 v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// exp of eight numbers: 2^n times a polynomial of the rest, relative error below 2e-16 times a few.
static inline double8 exp8(double8 x) {
    x = x < -708.0 ? all8(-708.0) : x;
    x = x > 709.0 ? all8(709.0) : x;
    const double8 shift = all8(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to a whole number
    double8 t = x * 1.4426950408889634 + shift;
    asm("" : "+v"(t));  // -ffast-math would cancel the sum and the difference
    double8 n = t - shift;
    double8 r = x - n * 6.93147180369123816490e-01;
    r = r - n * 1.90821492927058770002e-10;
    double8 r2 = r * r;
    // Taylor to the 13th power in the manner of Estrin; |r| <= 0.347
    double8 a = (1.0 / 6227020800.0) * r + 1.0 / 479001600.0;
    double8 b = (1.0 / 39916800.0) * r + 1.0 / 3628800.0;
    double8 c = (1.0 / 362880.0) * r + 1.0 / 40320.0;
    double8 d = (1.0 / 5040.0) * r + 1.0 / 720.0;
    double8 e = (1.0 / 120.0) * r + 1.0 / 24.0;
    double8 f = (1.0 / 6.0) * r + 0.5;
    double8 p = ((a * r2 + b) * r2 + c);
    p = ((p * r2 + d) * r2 + e) * r2 + f;
    p = p * r2 + r + 1.0;
    int8x bits = (int8x)t << 52;
    return (double8)((int8x)p + bits);
}
