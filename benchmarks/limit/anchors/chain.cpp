// The chain of each number stays in registers, and its derivative is a product that is multiplied along with it.
#include "anchor.h"

enum { STEPS = 100, WIDTH = 4 };

// Sine and cosine of WIDTH vectors. x = n pi + r with |r| <= pi / 2; both are polynomials of r, with the sign of n.
static inline void sine_cosine(const double8 *x, double8 *sine, double8 *cosine) {
    const double8 shift = all8(6755399441055744.0);  // adding it rounds to a whole number
    for (int i = 0; i < WIDTH; i++) {
        double8 t = x[i] * 0.3183098861837906715 + shift;
        hide_origin(t);
        double8 n = t - shift;
        int8x sign = (int8x)t << 63;
        double8 r = x[i] - n * 3.141592653589793116;
        r = r - n * 1.2246467991473532072e-16;
        double8 s = r * r;
        // interpolated at Chebyshev's nodes: the errors are 1e-18 and 2e-17
        double8 p = s * 2.73142898612261585e-15 - 7.64396903105276904e-13;
        double8 q = s * 4.62764608954363448e-14 - 1.14646874878459094e-11;
        p = p * s + 1.60589772728155061e-10;
        q = q * s + 2.08766307923102542e-9;
        p = p * s - 2.50521076163845953e-8;
        q = q * s - 2.75573177661618797e-7;
        p = p * s + 2.75573192191584306e-6;
        q = q * s + 2.48015872924371131e-5;
        p = p * s - 1.9841269841254956e-4;
        q = q * s - 1.3888888888860676e-3;
        p = p * s + 8.33333333333331584e-3;
        q = q * s + 4.16666666666663352e-2;
        p = p * s - 1.66666666666666666e-1;
        q = q * s - 4.99999999999999994e-1;
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
