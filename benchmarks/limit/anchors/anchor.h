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
#include <sys/mman.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

static size_t kept_bytes = 0;

// Bytes of working memory: results are not counted.
EXPORT int64_t anchor_bytes() { return (int64_t)kept_bytes; }

// Aligned memory; large pieces ask for large pages.
static inline void *allocate(size_t bytes) {
    const size_t large = (size_t)1 << 21, align = bytes > large / 4 ? large : 64;
    bytes = (bytes + align - 1) / align * align;
    void *data = aligned_alloc(align, bytes);
    if (align == large) madvise(data, bytes, MADV_HUGEPAGE);
    return data;
}

// Memory that grows when it has to, and is kept for the next call.
template <class T> struct Buffer {
    T *data = nullptr;
    size_t size = 0;
    T *get(size_t count) {
        if (count > size) {
            free(data);
            kept_bytes += (count - size) * sizeof(T);
            data = (T *)allocate(count * sizeof(T));
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

// Hides from the compiler how a vector was computed: -ffast-math would cancel a sum and a difference.
template <class Vector> static inline void hide_origin(Vector &v) {
#ifdef __AVX512F__
    asm("" : "+v"(v));
#else
    union {
        Vector all;
        double halves[2] __attribute__((vector_size(32)));
    } parts = {v};
    asm("" : "+x"(parts.halves[0]), "+x"(parts.halves[1]));
    v = parts.all;
#endif
}

static inline double sum8(double8 v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// Eight vectors as the rows of a matrix, transposed.
static inline void transpose8(double8 *v) {
    double8 t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = __builtin_shuffle(v[i], v[i + 1], int8x{0, 8, 2, 10, 4, 12, 6, 14});
        t[i + 1] = __builtin_shuffle(v[i], v[i + 1], int8x{1, 9, 3, 11, 5, 13, 7, 15});
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            u[i + j] = __builtin_shuffle(t[i + j], t[i + j + 2], int8x{0, 1, 8, 9, 4, 5, 12, 13});
            u[i + j + 2] = __builtin_shuffle(t[i + j], t[i + j + 2], int8x{2, 3, 10, 11, 6, 7, 14, 15});
        }
    for (int j = 0; j < 4; j++) {
        v[j] = __builtin_shuffle(u[j], u[j + 4], int8x{0, 1, 2, 3, 8, 9, 10, 11});
        v[j + 4] = __builtin_shuffle(u[j], u[j + 4], int8x{4, 5, 6, 7, 12, 13, 14, 15});
    }
}

// The sums of eight vectors.
static inline double8 sum_rows8(const double8 *v) {
    double8 t[4], u[2];
    for (int i = 0; i < 4; i++)
        t[i] = __builtin_shuffle(v[2 * i], v[2 * i + 1], int8x{0, 8, 2, 10, 4, 12, 6, 14}) +
               __builtin_shuffle(v[2 * i], v[2 * i + 1], int8x{1, 9, 3, 11, 5, 13, 7, 15});
    for (int i = 0; i < 2; i++)
        u[i] = __builtin_shuffle(t[2 * i], t[2 * i + 1], int8x{0, 1, 8, 9, 4, 5, 12, 13}) +
               __builtin_shuffle(t[2 * i], t[2 * i + 1], int8x{2, 3, 10, 11, 6, 7, 14, 15});
    return __builtin_shuffle(u[0], u[1], int8x{0, 1, 2, 3, 8, 9, 10, 11}) +
           __builtin_shuffle(u[0], u[1], int8x{4, 5, 6, 7, 12, 13, 14, 15});
}

// exp of eight numbers: 2^n times a polynomial of the rest.
static inline double8 exp8(double8 x) {
    x = x < -708.0 ? all8(-708.0) : x;
    x = x > 709.0 ? all8(709.0) : x;
    const double8 shift = all8(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to a whole number
    double8 t = x * 1.4426950408889634 + shift;
    hide_origin(t);
    double8 n = t - shift;
    double8 r = x - n * 6.93147180369123816490e-01;
    r = r - n * 1.90821492927058770002e-10;
    double8 r2 = r * r;
    // (exp r - 1 - r) / r^2, interpolated at Chebyshev's nodes of |r| <= log 2 / 2: the error is 1e-17
    double8 a = r * 2.51003854955103191e-8 + 2.76200884454097482e-7, b = r * 2.75572684599970648e-6 + 2.48015212959543751e-5;
    double8 c = r * 1.98412698630536169e-4 + 1.38888889172137169e-3, d = r * 8.33333333333006183e-3 + 4.16666666666241279e-2;
    double8 e = r * 1.66666666666666675e-1 + 5.00000000000000102e-1;
    double8 p = (((a * r2 + b) * r2 + c) * r2 + d) * r2 + e;
    p = p * r2 + r + 1.0;
    int8x bits = (int8x)t << 52;
    return (double8)((int8x)p + bits);
}
