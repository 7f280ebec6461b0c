// One factorisation and two triangular solves each way. By rows a matrix is its transpose by columns.
#include "blas.h"

static Buffer<double> factors_of, solution_of, adjoint_of;
static Buffer<int> pivots_of;

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *matrix = (const double *)in[0], *right = (const double *)in[1], *wanted = (const double *)in[2];
    double *g_matrix = (double *)out[0], *g_right = (double *)out[1];
    int n = (int)sizes[0], one = 1, info = 0;
    double *factors = factors_of.get((size_t)n * n), *x = solution_of.get(n);
    int *pivots = pivots_of.get(n);
    lapack.set_num_threads(omp_get_max_threads());
    memcpy(factors, matrix, sizeof(double) * n * n);
    memcpy(x, right, sizeof(double) * n);
    lapack.dgetrf(&n, &n, factors, &n, pivots, &info);
    lapack.dgetrs((char *)"T", &n, &one, factors, &n, pivots, x, &n, &info);
    double total = 0.0;
    for (int i = 0; i < n; i++) {
        double e = x[i] - wanted[i];
        total += e * e;
        g_right[i] = 2.0 * e;
    }
    lapack.dgetrs((char *)"N", &n, &one, factors, &n, pivots, g_right, &n, &info);
#pragma omp parallel for schedule(static) if (n >= 200)
    for (int i = 0; i < n; i++) {
        double by = -g_right[i];
        for (int j = 0; j < n; j++) g_matrix[(size_t)i * n + j] = by * x[j];
    }
    return total;
}
