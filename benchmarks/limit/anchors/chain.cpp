// The chain of each number stays in registers, and its derivative is a product that is multiplied along with it.
#include "anchor.h"

enum { STEPS = 100, WIDTH = 4 };

// Sine and cosine of WIDTH vectors. x = n pi + r with |r| <= pi / 2; both are polynomials of r, with the sign of n.
static inline void sine_cosine(const double8 *x, double8 *sine, double8 *cosine) {
    const double8 shift = all8(6755399441055744.0);  // adding it rounds to a whole number
    for (int i = 0; i < WIDTH; i++) {
        double8 t = x[i] * 0.3183098861837906715 + shift;
        asm("" : "+v"(t));
        double8 n = t - shift;
        int8x sign = (int8x)t << 63;
        double8 r = x[i] - n * 3.141592653589793116;
        r = r - n * 1.2246467991473532072e-16;
        double8 s = r * r;
        // Taylor, to r^21 and r^22: the error at pi / 2 is below half a unit
        double8 p = s * (1.0 / 51090942171709440000.0) - 1.0 / 121645100408832000.0;
        double8 q = s * (-1.0 / 1124000727777607680000.0) + 1.0 / 2432902008176640000.0;
        p = p * s + 1.0 / 355687428096000.0;
        q = q * s - 1.0 / 6402373705728000.0;
        p = p * s - 1.0 / 1307674368000.0;
        q = q * s + 1.0 / 20922789888000.0;
        p = p * s + 1.0 / 6227020800.0;
        q = q * s - 1.0 / 87178291200.0;
        p = p * s - 1.0 / 39916800.0;
        q = q * s + 1.0 / 479001600.0;
        p = p * s + 1.0 / 362880.0;
        q = q * s - 1.0 / 3628800.0;
        p = p * s - 1.0 / 5040.0;
        q = q * s + 1.0 / 40320.0;
        p = p * s + 1.0 / 120.0;
        q = q * s - 1.0 / 720.0;
        p = p * s - 1.0 / 6.0;
        q = q * s + 1.0 / 24.0;
        q = q * s - 0.5;
        sine[i] = (double8)((int8x)(r + r * s * p) ^ sign);
        cosine[i] = (double8)((int8x)(1.0 + s * q) ^ sign);
    }
}

static double stretch(const double *x, double *g, int64_t count) {
    double total = 0.0;
    for (int64_t i = 0; i < count; i += 8 * WIDTH) {
        int64_t left = count - i < 8 * WIDTH ? count - i : 8 * WIDTH;
        double8 y[WIDTH] = {}, d[WIDTH], sine[WIDTH], cosine[WIDTH];
        memcpy(y, x + i, left * sizeof(double));
        for (int k = 0; k < WIDTH; k++) d[k] = all8(1.0);
        for (int step = 0; step < STEPS; step++) {
            sine_cosine(y, sine, cosine);
            for (int k = 0; k < WIDTH; k++) {
                y[k] = sine[k] * 1.01 + 0.1;
                d[k] *= cosine[k] * 1.01;
            }
        }
        memcpy(g + i, d, left * sizeof(double));
        const double *values = (const double *)y;
        for (int64_t k = 0; k < left; k++) total += values[k];
    }
    return total;
}

// Few numbers: one vector of eight, and another one.
static double short_chain(const double *x, double *g, int64_t count) {
    double total = 0.0;
    double8 y[WIDTH] = {}, d[WIDTH], sine[WIDTH], cosine[WIDTH];
    memcpy(y, x, count * sizeof(double));
    for (int k = 0; k < WIDTH; k++) d[k] = all8(1.0);
    for (int step = 0; step < STEPS; step++) {
        sine_cosine(y, sine, cosine);
        for (int k = 0; k < 2; k++) {
            y[k] = sine[k] * 1.01 + 0.1;
            d[k] *= cosine[k] * 1.01;
        }
    }
    memcpy(g, d, count * sizeof(double));
    for (int64_t k = 0; k < count; k++) total += ((const double *)y)[k];
    return total;
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *x = (const double *)in[0];
    double *g = (double *)out[0], total = 0.0;
    int64_t n = sizes[0];
    if (n <= 16) return short_chain(x, g, n);
    if (n < 1000) return stretch(x, g, n);
#pragma omp parallel reduction(+ : total)
    {
        int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        int64_t begin = n * me / threads / 32 * 32, end = me + 1 == threads ? n : n * (me + 1) / threads / 32 * 32;
        total += stretch(x + begin, g + begin, end - begin);
    }
    return total;
}
