// The lower triangle of the kernel's matrix, its inverse by Cholesky, and one pass that contracts K^-1 - a a' with the kernel's
// derivatives. By columns the triangle that is filled is the upper one.
#include "blas.h"

static Buffer<double> kernel_of, inverse_of, alpha_of, scaled_of;
enum { MOST = 8 };

// The inverse of an upper triangle stored by columns, in place. By halves, because LAPACK's takes three times as long.
static void invert(double *u, int n, int stride) {
    if (n <= 40) {
        for (int j = 0; j < n; j++) {
            double *column = u + (size_t)j * stride, by = 1.0 / column[j], x[40];
            for (int i = 0; i < j; i++) x[i] = 0.0;
            for (int k = 0; k < j; k++) {  // the inverse so far times the column
                const double *before = u + (size_t)k * stride;
                double c = column[k];
                for (int i = 0; i <= k; i++) x[i] += before[i] * c;
            }
            for (int i = 0; i < j; i++) column[i] = -by * x[i];
            column[j] = by;
        }
        return;
    }
    int first = n / 2 / 8 * 8, rest = n - first;
    double *corner = u + (size_t)first * stride, *second = corner + first, one = 1.0, minus = -1.0;
    invert(u, first, stride);
    invert(second, rest, stride);
    lapack.dtrmm((char *)"L", (char *)"U", (char *)"N", (char *)"N", &first, &rest, &one, u, &stride, corner, &stride);
    lapack.dtrmm((char *)"R", (char *)"U", (char *)"N", (char *)"N", &first, &rest, &minus, second, &stride, corner, &stride);
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *logs = (const double *)in[0], *x = (const double *)in[1], *y = (const double *)in[2];
    double *g = (double *)out[0];
    int n = (int)sizes[1], D = (int)sizes[2], one = 1, info = 0;
    if (D != 3) return NAN;
    double amplitude = exp(2.0 * logs[D]), noise = exp(2.0 * logs[D + 1]);
    int64_t stride = (n + 7) / 8 * 8;
    double *K = kernel_of.get((size_t)n * stride), *V = inverse_of.get((size_t)n * n), *a = alpha_of.get(n);
    double *s = scaled_of.get(D * stride);
    for (int d = 0; d < D; d++) {
        double by = exp(-logs[d]);
        for (int i = 0; i < n; i++) s[d * stride + i] = x[i * D + d] * by;
        for (int i = n; i < stride; i++) s[d * stride + i] = 0.0;
    }
    // row i has the columns up to i; the rows of both threads have the same area
#pragma omp parallel for schedule(static, 16)
    for (int i = 0; i < n; i++) {
        double p = s[i], q = s[stride + i], r = s[2 * stride + i], *row = K + (size_t)i * stride;
        for (int j = 0; j <= i; j += 8) {
            double8 u = load8(s + j) - p, v = load8(s + stride + j) - q, w = load8(s + 2 * stride + j) - r;
            store8(row + j, amplitude * exp8(-0.5 * (u * u + v * v + w * w)));
        }
        memcpy(V + (size_t)i * n, row, sizeof(double) * (i + 1));
        V[(size_t)i * n + i] += noise;
    }
    lapack.set_num_threads(omp_get_max_threads());
    lapack.dpotrf((char *)"U", &n, V, &n, &info);
    if (info != 0) return NAN;
    double logdet = 0.0, fit = 0.0;
    for (int i = 0; i < n; i++) logdet += log(V[(size_t)i * n + i]);
    memcpy(a, y, sizeof(double) * n);
    lapack.dpotrs((char *)"U", &n, &one, V, &n, a, &n, &info);
    for (int i = 0; i < n; i++) fit += a[i] * y[i];
    invert(V, n, n);
    lapack.dlauum((char *)"U", &n, V, &n, &info);
    double g0 = 0.0, g1 = 0.0, g2 = 0.0, ga = 0.0, gn = 0.0;
#pragma omp parallel for schedule(static, 16) reduction(+ : g0, g1, g2, ga, gn)
    for (int i = 0; i < n; i++) {
        double p = s[i], q = s[stride + i], r = s[2 * stride + i], ai = a[i];
        const double *row = K + (size_t)i * stride, *inverse = V + (size_t)i * n;
        for (int j = 0; j < i; j++) {
            double c = (ai * a[j] - inverse[j]) * row[j];
            double u = s[j] - p, v = s[stride + j] - q, w = s[2 * stride + j] - r;
            ga += c;
            g0 += c * u * u;
            g1 += c * v * v;
            g2 += c * w * w;
        }
        gn += ai * ai - inverse[i];
    }
    g[0] = g0;
    g[1] = g1;
    g[2] = g2;
    g[D] = 2.0 * ga + gn * amplitude;
    g[D + 1] = gn * noise;
    return -0.5 * fit - logdet - 0.5 * n * log(2.0 * M_PI);
}
