// Six derivatives beside two numbers: they go along in the lanes of two vectors, and nothing has to be kept.
#include "anchor.h"

struct Dual {
    double value;
    double8 slope;
};

static inline Dual plus(const Dual &x, double h, const Dual &y) { return {x.value + h * y.value, x.slope + h * y.slope}; }

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *p = (const double *)in[0], *start = (const double *)in[1];
    int64_t steps = sizes[2];
    const double h = 0.05;
    const double8 e0 = {1}, e1 = {0, 1}, e2 = {0, 0, 1}, e3 = {0, 0, 0, 1};
    Dual x = {start[0], {0, 0, 0, 0, 1}}, y = {start[1], {0, 0, 0, 0, 0, 1}};
    const double p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3];
    auto slope = [&](const Dual &u, const Dual &v, Dual &a, Dual &b) {
        double grow = p0 - p1 * v.value, feed = p2 * u.value - p3;
        a.value = u.value * grow;
        b.value = v.value * feed;
        a.slope = grow * u.slope + u.value * (e0 - v.value * e1 - p1 * v.slope);
        b.slope = feed * v.slope + v.value * (u.value * e2 - e3 + p2 * u.slope);
    };
    for (int64_t t = 0; t < steps; t++) {
        Dual a1, b1, a2, b2, a3, b3, a4, b4;
        slope(x, y, a1, b1);
        slope(plus(x, 0.5 * h, a1), plus(y, 0.5 * h, b1), a2, b2);
        slope(plus(x, 0.5 * h, a2), plus(y, 0.5 * h, b2), a3, b3);
        slope(plus(x, h, a3), plus(y, h, b3), a4, b4);
        x.value += h / 6.0 * (a1.value + 2.0 * (a2.value + a3.value) + a4.value);
        y.value += h / 6.0 * (b1.value + 2.0 * (b2.value + b3.value) + b4.value);
        x.slope += h / 6.0 * (a1.slope + 2.0 * (a2.slope + a3.slope) + a4.slope);
        y.slope += h / 6.0 * (b1.slope + 2.0 * (b2.slope + b3.slope) + b4.slope);
    }
    double8 g = 2.0 * (x.value * x.slope + y.value * y.slope);
    memcpy(out[0], &g, 4 * sizeof(double));
    memcpy(out[1], (const double *)&g + 4, 2 * sizeof(double));
    return x.value * x.value + y.value * y.value;
}
