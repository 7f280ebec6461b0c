// All fields are kept, as they have to be for a reader who does not know that waves run backward as well as forward. A
// pass for each step in each direction; the gradient by c^2 is summed in the pass of the adjoint.
#include "anchor.h"

static Buffer<double> fields_of, square_of, adjoint_of;

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *speed = (const double *)in[0], *start = (const double *)in[1], *wanted = (const double *)in[2];
    double *g = (double *)out[0];
    int64_t n = sizes[0], steps = sizes[6], area = n * n;
    double *fields = fields_of.get((steps + 1) * area), *square = square_of.get(area);
    double *adjoints = adjoint_of.get(3 * area), total = 0.0, by = 2.0 / area;
#pragma omp parallel reduction(+ : total) if (n >= 64)
    {
        int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        int64_t first = 1 + (n - 2) * me / threads, last = 1 + (n - 2) * (me + 1) / threads;
        int64_t whole_first = me == 0 ? 0 : first, whole_last = me + 1 == threads ? n : last;
        for (int64_t i = whole_first * n; i < whole_last * n; i++) {
            fields[i] = start[i];
            square[i] = speed[i] * speed[i];
            g[i] = 0.0;
            adjoints[i] = adjoints[area + i] = adjoints[2 * area + i] = 0.0;
        }
        for (int64_t t = 1; t <= steps; t++) {
#pragma omp barrier
            const double *__restrict u = fields + (t - 1) * area, *__restrict c = square;
            const double *__restrict before = t == 1 ? u : u - area;
            double *__restrict next = fields + t * area;
            if (me == 0) memset(next, 0, n * sizeof(double));
            if (me + 1 == threads) memset(next + (n - 1) * n, 0, n * sizeof(double));
            for (int64_t i = first; i < last; i++) {
                const double *__restrict r = u + i * n;
                double *__restrict q = next + i * n;
                q[0] = q[n - 1] = 0.0;
                for (int64_t j = 1; j < n - 1; j++) {
                    double around = r[j + n] + r[j - n] + r[j + 1] + r[j - 1] - 4.0 * r[j];
                    q[j] = 2.0 * r[j] - before[i * n + j] + c[i * n + j] * around;
                }
            }
        }
#pragma omp barrier
        const double *end = fields + steps * area;
        double *a = adjoints, *later = adjoints + area, *other = adjoints + 2 * area;
        for (int64_t i = whole_first; i < whole_last; i++)
            for (int64_t j = 0; j < n; j++) {
                double e = end[i * n + j] - wanted[i * n + j];
                total += e * e;
                a[i * n + j] = i == 0 || j == 0 || i == n - 1 || j == n - 1 ? 0.0 : by * e;
            }
        // a is the adjoint of field t. With w = c^2 a: its fellow of field t - 1 is 2 a + laplacian(w) - (that of t + 1),
        // and c^2 gets a laplacian(u). c^2 a of the neighbours is formed again instead of being stored.
        for (int64_t t = steps; t >= 1; t--) {
#pragma omp barrier
            const double *__restrict u = fields + (t - 1) * area, *__restrict c = square, *__restrict now = a;
            const double *__restrict after = later;
            double *__restrict into = other, *__restrict sum = g;
            for (int64_t i = first; i < last; i++)
                for (int64_t j = 1; j < n - 1; j++) {
                    int64_t at = i * n + j;
                    double around = u[at + n] + u[at - n] + u[at + 1] + u[at - 1] - 4.0 * u[at];
                    double w = c[at + n] * now[at + n] + c[at - n] * now[at - n] + c[at + 1] * now[at + 1] +
                               c[at - 1] * now[at - 1] - 4.0 * c[at] * now[at];
                    sum[at] += now[at] * around;
                    into[at] = 2.0 * now[at] - after[at] + w;
                }
            double *rotated = later;
            later = a;
            a = other;
            other = rotated;
        }
        for (int64_t i = first; i < last; i++)
            for (int64_t j = 1; j < n - 1; j++) g[i * n + j] *= 2.0 * speed[i * n + j];
    }
    return total / area;
}
