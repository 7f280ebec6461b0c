// One pass over the matrix: eight rows are multiplied, their losses found in one vector, and the rows added to the
// gradient while they are in the cache. Logarithms of the losses are taken of products.
#include "anchor.h"

enum { MOST = 8 };  // vectors of features

template <int V>
static double stretch(const double *x, const double *w, const double *signs, double *g, int64_t D, int64_t first,
                      int64_t last) {
    double8 weight[V] = {}, sum[V] = {}, product = all8(1.0), linear = {};
    memcpy(weight, w, D * sizeof(double));
    double total = 0.0;
    for (int64_t n = first; n < last; n += 8) {
        double8 z, dot[8];
        for (int r = 0; r < 8; r++) {
            dot[r] = (double8){};
            for (int k = 0; k < V; k++) dot[r] += load8(x + (n + r) * D + 8 * k) * weight[k];
        }
        z = sum_rows8(dot);
        double8 sign = load8(signs + n), m = -sign * z, negative = m > 0.0 ? -m : m, e = exp8(negative), by = 1.0 / (1.0 + e);
        product *= 1.0 + e;
        linear += m > 0.0 ? m : all8(0.0);
        double8 slope = -sign * (m > 0.0 ? by : e * by);
        for (int k = 0; k < V; k++) {
            double8 s = sum[k];
            for (int r = 0; r < 8; r++) s += load8(x + (n + r) * D + 8 * k) * slope[r];
            sum[k] = s;
        }
        if (((n - first) & 4095) == 4088) {  // a product is at most 2^512
            for (int r = 0; r < 8; r++) total += log(product[r]);
            product = all8(1.0);
        }
    }
    for (int r = 0; r < 8; r++) total += log(product[r]);
    for (int64_t j = 0; j < D; j++) g[j] += ((const double *)sum)[j];
    return total + sum8(linear);
}

static double rest(const double *x, const double *w, const double *signs, double *g, int64_t D, int64_t first, int64_t last) {
    double total = 0.0;
    for (int64_t n = first; n < last; n++) {
        double z = 0.0;
        for (int64_t j = 0; j < D; j++) z += x[n * D + j] * w[j];
        double m = -signs[n] * z, e = exp(-fabs(m)), by = 1.0 / (1.0 + e);
        total += (m > 0.0 ? m : 0.0) + log(1.0 + e);
        double slope = -signs[n] * (m > 0.0 ? by : e * by);
        for (int64_t j = 0; j < D; j++) g[j] += slope * x[n * D + j];
    }
    return total;
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *w = (const double *)in[0], *x = (const double *)in[1], *signs = (const double *)in[2];
    double *g = (double *)out[0], sums[2][8 * MOST] = {}, total = 0.0, ridge = 0.0;
    int64_t N = sizes[1], D = sizes[2], groups = (N - 1) / 8;  // a group reads a little of the row after it
    int threads = N * D > 20000 && omp_get_max_threads() > 1 ? 2 : 1;
    if (D > 8 * MOST) return NAN;
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        int64_t me = omp_get_thread_num(), first = 8 * (groups * me / threads), last = 8 * (groups * (me + 1) / threads);
        switch ((D + 7) / 8) {
            case 1: total += stretch<1>(x, w, signs, sums[me], D, first, last); break;
            case 7: total += stretch<7>(x, w, signs, sums[me], D, first, last); break;
            default: total += rest(x, w, signs, sums[me], D, first, last);
        }
    }
    total += rest(x, w, signs, sums[0], D, 8 * groups, N);
    for (int64_t j = 0; j < D; j++) {
        g[j] = (sums[0][j] + sums[1][j]) / N + 0.02 * w[j];
        ridge += w[j] * w[j];
    }
    return total / N + 0.01 * ridge;
}
