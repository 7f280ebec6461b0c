// One pass over the matrix: a row's product, its loss, and its part of the gradient while the row is in the cache.
#include "instructions.h"

static Buffer<double> sums_of;

static double stretch(const double *w, const double *data, const int32_t *columns, const int32_t *rows,
                      const double *signs, double *g, int64_t first, int64_t last) {
    enum { GROUP = 16 };
    double total = 0.0;
    for (int64_t start = first; start < last; start += GROUP) {
        int64_t count = last - start < GROUP ? last - start : GROUP;
        double z[GROUP] = {}, slope[GROUP];
        double8 sums[GROUP] = {};
        for (int64_t r = 0; r < count; r++) {
            int64_t k = rows[start + r], end = rows[start + r + 1];
            double8 s = {};
            for (; k + 8 <= end; k += 8) {
                s += load8(data + k) * gather8(w, columns + k);
            }
            double rest = 0.0;
            for (; k < end; k++) rest += data[k] * w[columns[k]];
            sums[r] = s;
            z[r] = rest;
        }
        for (int h = 0; h < GROUP; h += 8) store8(z + h, load8(z + h) + sum_rows8(sums + h));
        double product = 1.0, linear = 0.0;
        for (int64_t r = 0; r < count; r++) {
            double m = -signs[start + r] * z[r], e = exp(-fabs(m)), by = 1.0 / (1.0 + e);
            product *= 1.0 + e;  // at most 2^16: one logarithm for the group
            linear += m > 0.0 ? m : 0.0;
            slope[r] = -signs[start + r] * (m > 0.0 ? by : e * by);
        }
        total += linear + log(product);
        for (int64_t r = 0; r < count; r++) {
            double s = slope[r];
            for (int64_t k = rows[start + r]; k < rows[start + r + 1]; k++) g[columns[k]] += data[k] * s;
        }
    }
    return total;
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *w = (const double *)in[0], *data = (const double *)in[1], *signs = (const double *)in[4];
    int64_t features = sizes[0], entries = sizes[1], examples = sizes[4];
    int threads = entries > 20000 ? omp_get_max_threads() : 1;
    double *g = (double *)out[0], *sums = sums_of.get(threads * features), total = 0.0, ridge = 0.0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        int64_t me = omp_get_thread_num(), first = examples * me / threads, last = examples * (me + 1) / threads;
        double *mine = sums + me * features;
        memset(mine, 0, features * sizeof(double));
        total += stretch(w, data, (const int32_t *)in[2], (const int32_t *)in[3], signs, mine, first, last);
    }
    for (int64_t i = 0; i < features; i++) {
        double s = 0.0;
        for (int t = 0; t < threads; t++) s += sums[t * features + i];
        g[i] = s / examples + 0.02 * w[i];
        ridge += w[i] * w[i];
    }
    return total / examples + 0.01 * ridge;
}
