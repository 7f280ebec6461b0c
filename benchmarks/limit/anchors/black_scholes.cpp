// One pass. (1 + tanh a) / 2 is 1 / (1 + exp(-2 a)); roots and reciprocals start from the processor's fourteen bits.
#include "instructions.h"

// x = 2^n m with m in [0.75, 1.5); log m = 2 artanh((m - 1) / (m + 1))
static inline double8 log8(double8 x) {
    double8 m, n = split_exponent(x, m);
    double8 z = (m - 1.0) * reciprocal(m + 1.0), s = z * z;
    double8 p = s * (2.0 / 21.0) + 2.0 / 19.0;
    p = p * s + 2.0 / 17.0;
    p = p * s + 2.0 / 15.0;
    p = p * s + 2.0 / 13.0;
    p = p * s + 2.0 / 11.0;
    p = p * s + 2.0 / 9.0;
    p = p * s + 2.0 / 7.0;
    p = p * s + 2.0 / 5.0;
    p = p * s + 2.0 / 3.0;
    return n * 0.693147180559945286 + (z * 2.0 + z * s * p);
}

// The sigmoid of 2 c (z + k z^3), and its slope by z.
static inline double8 normal(double8 z, double8 &slope) {
    const double c = 2.0 * 0.7978845608028654, k = 0.044715;
    double8 square = z * z, e = exp8(-c * z * (1.0 + k * square)), p = reciprocal(1.0 + e);
    slope = p * (1.0 - p) * (c + 3.0 * c * k * square);
    return p;
}

__attribute__((always_inline)) static inline double8 option(double8 s, double8 v, double8 strike, double8 years, double8 &gs, double8 &gv) {
    const double rate = 0.03;
    double8 sk = s * strike, all = reciprocal(sk * v);  // one reciprocal for the three
    double8 by_s = all * strike * v, by_strike = all * s * v;
    double8 by_root = inverse_root(years), root = years * by_root, spread = v * root, by_spread = by_root * all * sk;
    double8 upper = (log8(s * by_strike) + (rate + 0.5 * v * v) * years) * by_spread;
    double8 first, second, owed = strike * exp8(-rate * years);
    double8 a = normal(upper, first), b = normal(upper - spread, second);
    double8 g = s * first - owed * second;  // by upper
    gs = a + g * by_spread * by_s;
    // upper by v: (v years spread - (...) root) / spread^2 = root - upper / v
    gv = g * (root - upper * root * by_spread) + owed * second * root;
    return s * a - owed * b;
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *spot = (const double *)in[0], *volatility = (const double *)in[1], *strike = (const double *)in[2];
    const double *years = (const double *)in[3];
    double *g_spot = (double *)out[0], *g_volatility = (double *)out[1], total = 0.0;
    int64_t n = sizes[0], blocks = n / 8;
#pragma omp parallel reduction(+ : total) if (n > 2000)
    {
        double8 sum = {};
#pragma omp for schedule(static) nowait
        for (int64_t b = 0; b < blocks; b++) {
            int64_t i = 8 * b;
            double8 gs, gv;
            sum += option(load8(spot + i), load8(volatility + i), load8(strike + i), load8(years + i), gs, gv);
            store8(g_spot + i, gs);
            store8(g_volatility + i, gv);
        }
        total += sum8(sum);
    }
    if (int64_t left = n - 8 * blocks) {
        double8 s = all8(1.0), v = s, k = s, y = s, gs, gv;
        memcpy(&s, spot + 8 * blocks, left * sizeof(double));
        memcpy(&v, volatility + 8 * blocks, left * sizeof(double));
        memcpy(&k, strike + 8 * blocks, left * sizeof(double));
        memcpy(&y, years + 8 * blocks, left * sizeof(double));
        double8 price = option(s, v, k, y, gs, gv);
        for (int64_t i = 0; i < left; i++) total += price[i];
        memcpy(g_spot + 8 * blocks, &gs, left * sizeof(double));
        memcpy(g_volatility + 8 * blocks, &gv, left * sizeof(double));
    }
    return total;
}
