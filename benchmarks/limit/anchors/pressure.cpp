// One pass over the planes: three planes of the residual are in the cache, and the gradient follows a plane behind.
#include "anchor.h"

static Buffer<double> planes_of;

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *p = (const double *)in[0], *source = (const double *)in[1];
    double *g = (double *)out[0], total = 0.0;
    const int64_t X = sizes[0], Y = sizes[1], Z = sizes[2], area = Y * Z;
    const double by = 1.0 / ((double)(X - 2) * (Y - 2) * (Z - 2));
    int most = omp_get_max_threads();
    double *planes = planes_of.get((size_t)most * 3 * (area + 16));
#pragma omp parallel reduction(+ : total) if (X * area > 20000)
    {
        int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        int64_t first = X * me / threads, last = X * (me + 1) / threads;  // planes of the gradient
        double *mine = planes + me * 3 * (area + 16);
        memset(mine, 0, 3 * (area + 16) * sizeof(double));  // borders stay zero
        double *r[3] = {mine + 8, mine + 8 + area, mine + 8 + 2 * area};
        for (int64_t i = first - 1; i <= last; i++) {
            double *__restrict now = r[(i + 3) % 3];
            if (i < 1 || i > X - 2) {
                memset(now, 0, area * sizeof(double));
            } else {
                bool counted = i >= first && i < last;
                double sum = 0.0;
                for (int64_t j = 1; j < Y - 1; j++) {
                    const double *__restrict c = p + i * area + j * Z, *__restrict s = source + ((i - 1) * (Y - 2) + j - 1) * (Z - 2) - 1;
                    double *__restrict q = now + j * Z;
                    for (int64_t k = 1; k < Z - 1; k++) {
                        double e = c[k + area] + c[k - area] + c[k + Z] + c[k - Z] + c[k + 1] + c[k - 1] - 6.0 * c[k] - s[k];
                        sum += e * e;
                        q[k] = by * e;
                    }
                }
                if (counted) total += sum;
            }
            int64_t at = i - 1;
            if (at < first) continue;
            const double *__restrict a = r[(at + 2) % 3], *__restrict b = r[(at + 3) % 3], *__restrict d = now;
            double *__restrict into = g + at * area;
            for (int64_t k = 0; k < Z; k++) {  // the first row and the last have one neighbour within
                into[k] = b[Z + k];
                into[(Y - 1) * Z + k] = b[(Y - 2) * Z + k];
            }
            for (int64_t j = 1; j < Y - 1; j++)
                for (int64_t k = 0; k < Z; k++) {
                    int64_t m = j * Z + k;
                    into[m] = a[m] + d[m] + b[m + Z] + b[m - Z] + b[m + 1] + b[m - 1] - 6.0 * b[m];
                }
        }
    }
    return 0.5 * total * by;
}
