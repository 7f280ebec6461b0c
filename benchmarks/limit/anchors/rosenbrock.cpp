// One pass: the gradient of number i needs its two neighbours only.
#include "anchor.h"

static double stretch(const double *x, double *g, int64_t first, int64_t last) {
    double total = 0.0;
    for (int64_t i = first; i < last; i++) {
        double before = x[i] - x[i - 1] * x[i - 1], r = x[i + 1] - x[i] * x[i], a = 1.0 - x[i];
        total += 100.0 * r * r + a * a;
        g[i] = 200.0 * before - 400.0 * x[i] * r - 2.0 * a;
    }
    return total;
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *x = (const double *)in[0];
    double *g = (double *)out[0];
    int64_t n = sizes[0];
    double r = x[1] - x[0] * x[0], a = 1.0 - x[0], total = 100.0 * r * r + a * a;
    g[0] = -400.0 * x[0] * r - 2.0 * a;
    g[n - 1] = 200.0 * (x[n - 1] - x[n - 2] * x[n - 2]);
    if (n < 20000) return total + stretch(x, g, 1, n - 1);
#pragma omp parallel reduction(+ : total)
    {
        int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        total += stretch(x, g, 1 + (n - 2) * me / threads, 1 + (n - 2) * (me + 1) / threads);
    }
    return total;
}
