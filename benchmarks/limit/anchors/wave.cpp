// All fields are kept, as they have to be for a reader who does not know that waves run backward as well as forward. Eight
// steps go through the rows together, each a row behind the one before it, so that rows are in the cache when they are
// used again; the threads take turns with these groups of steps, one following the other through the rows.
#include <atomic>

#include "anchor.h"

enum { TOGETHER = 8 };

static Buffer<double> fields_of, square_of, adjoint_of;

static inline void forward_row(const double *__restrict u, const double *__restrict before, const double *__restrict c,
                               double *__restrict next, int64_t n) {
    next[0] = next[n - 1] = 0.0;
    for (int64_t j = 1; j < n - 1; j++) {
        double around = u[j + n] + u[j - n] + u[j + 1] + u[j - 1] - 4.0 * u[j];
        next[j] = 2.0 * u[j] - before[j] + c[j] * around;
    }
}

// `after` is the adjoint of two steps later, and becomes that of the step before.
static inline void backward_row(const double *__restrict u, const double *__restrict now, const double *__restrict c,
                                double *__restrict after, double *__restrict sum, int64_t n) {
    for (int64_t j = 1; j < n - 1; j++) {
        double around = u[j + n] + u[j - n] + u[j + 1] + u[j - 1] - 4.0 * u[j];
        double w = c[j + n] * now[j + n] + c[j - n] * now[j - n] + c[j + 1] * now[j + 1] + c[j - 1] * now[j - 1];
        sum[j] += now[j] * around;
        after[j] = 2.0 * now[j] - after[j] + (w - 4.0 * c[j] * now[j]);
    }
}

// Runs `row(step, i)` for the rows 1 to n - 2 of all steps, in the order described above. Called by all threads.
template <class Row> static void sweep(int64_t steps, int64_t n, std::atomic<int64_t> *progress, Row row) {
    int64_t threads = omp_get_num_threads(), me = omp_get_thread_num(), groups = (steps + TOGETHER - 1) / TOGETHER;
    for (int64_t group = me; group < groups; group += threads) {
        int64_t first = group * TOGETHER, count = steps - first < TOGETHER ? steps - first : TOGETHER;
        for (int64_t i = 1; i < n - 2 + count; i++) {
            if (group > 0) {  // the group before has to be two rows ahead with its last step
                int64_t needed = i + 2 < n - 1 ? i + 2 : n - 1;
                while (progress[group - 1].load(std::memory_order_acquire) < needed) __builtin_ia32_pause();
            }
            for (int64_t s = 0; s < count; s++)
                if (i - s >= 1 && i - s <= n - 2) row(first + s, i - s);
            progress[group].store(i - count + 2, std::memory_order_release);  // the row after the last finished one
        }
        progress[group].store(n - 1, std::memory_order_release);
    }
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *speed = (const double *)in[0], *start = (const double *)in[1], *wanted = (const double *)in[2];
    double *g = (double *)out[0];
    const int64_t n = sizes[0], steps = sizes[6], area = n * n, stride = area + 264;  // not a power of two
    double *fields = fields_of.get((steps + 1) * stride), *square = square_of.get(area + 72) + 72;
    double *adjoints = adjoint_of.get(2 * stride + 136) + 136, total = 0.0, by = 2.0 / area;
    std::atomic<int64_t> progress[2][1024] = {};
    if (steps > 1024) return NAN;
    for (int64_t i = 0; i < area; i++) square[i] = speed[i] * speed[i];
    memcpy(fields, start, area * sizeof(double));
    memset(g, 0, area * sizeof(double));
    for (int64_t t = 1; t <= steps; t++) {
        memset(fields + t * stride, 0, n * sizeof(double));
        memset(fields + t * stride + (n - 1) * n, 0, n * sizeof(double));
    }
    double *a = adjoints + (steps % 2) * stride, *later = adjoints + (1 - steps % 2) * stride;
    memset(later, 0, area * sizeof(double));
#pragma omp parallel if (n >= 64)
    {
        sweep(steps, n, progress[0], [=](int64_t s, int64_t i) {
            const double *u = fields + s * stride + i * n;
            forward_row(u, s == 0 ? u : u - stride, square + i * n, fields + (s + 1) * stride + i * n, n);
        });
#pragma omp barrier
#pragma omp single
        {
            const double *end = fields + steps * stride;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++) {
                    double e = end[i * n + j] - wanted[i * n + j];
                    total += e * e;
                    a[i * n + j] = i == 0 || j == 0 || i == n - 1 || j == n - 1 ? 0.0 : by * e;
                }
        }
        // step s goes back from field t = steps - s, whose adjoint is in the array of its parity
        sweep(steps, n, progress[1], [=](int64_t s, int64_t i) {
            int64_t t = steps - s;
            double *now = adjoints + (t % 2) * stride + i * n, *after = adjoints + (1 - t % 2) * stride + i * n;
            backward_row(fields + (t - 1) * stride + i * n, now, square + i * n, after, g + i * n, n);
        });
    }
    for (int64_t i = 0; i < area; i++) g[i] *= 2.0 * speed[i];
    return total / area;
}
