// Eight points in a vector, sixteen at a time. The gradients are weighted moments of the points: sums of p, p x, p x x.
#include "anchor.h"

enum { D = 10, MOST = 64 };

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *logits = (const double *)in[0], *means = (const double *)in[1], *logs = (const double *)in[2];
    const double *x = (const double *)in[3];
    int64_t K = sizes[0], N = sizes[5];
    if (sizes[2] != D || K > MOST) return NAN;
    double scale[MOST][D], offset[MOST], shifted[MOST][D], largest = -INFINITY, sum = 0.0;
    for (int64_t k = 0; k < K; k++) largest = fmax(largest, logits[k]);
    for (int64_t k = 0; k < K; k++) sum += exp(logits[k] - largest);
    double normaliser = largest + log(sum);
    for (int64_t k = 0; k < K; k++) {
        double all = 0.0;
        for (int d = 0; d < D; d++) {
            scale[k][d] = exp(-logs[k * D + d]);
            shifted[k][d] = means[k * D + d] * scale[k][d];
            all += logs[k * D + d];
        }
        offset[k] = logits[k] - normaliser - all;
    }
    double zeroth[MOST] = {}, first[MOST][D] = {}, second[MOST][D] = {}, total = 0.0;
#pragma omp parallel reduction(+ : total)
    {
        double8 s0[MOST], s1[MOST][D], s2[MOST][D], p[MOST][2], product = all8(1.0), tops = {};
        int64_t since = 0;
        memset(s0, 0, K * sizeof *s0);
        memset(s1, 0, K * sizeof *s1);
        memset(s2, 0, K * sizeof *s2);
#pragma omp for schedule(static) nowait
        for (int64_t block = 0; block < (N + 15) / 16; block++) {
            double8 c[2][D], valid[2], top[2] = {all8(-INFINITY), all8(-INFINITY)}, norm[2] = {{}, {}};
            for (int h = 0; h < 2; h++)
                for (int lane = 0; lane < 8; lane++) {
                    int64_t n = block * 16 + h * 8 + lane;
                    valid[h][lane] = n < N;
                    const double *row = x + (n < N ? n : 0) * D;
                    for (int d = 0; d < D; d++) ((double *)&c[h][d])[lane] = row[d];
                }
            for (int64_t k = 0; k < K; k++) {
                double8 a = {}, b = {};
                for (int d = 0; d < D; d++) {
                    double8 u = c[0][d] * scale[k][d] - shifted[k][d], v = c[1][d] * scale[k][d] - shifted[k][d];
                    a += u * u;
                    b += v * v;
                }
                p[k][0] = offset[k] - 0.5 * a;
                p[k][1] = offset[k] - 0.5 * b;
                for (int h = 0; h < 2; h++) top[h] = p[k][h] > top[h] ? p[k][h] : top[h];
            }
            for (int64_t k = 0; k < K; k++)
                for (int h = 0; h < 2; h++) {
                    p[k][h] = exp8(p[k][h] - top[h]);
                    norm[h] += p[k][h];
                }
            for (int h = 0; h < 2; h++) {
                tops += valid[h] != 0.0 ? top[h] : all8(0.0);
                product *= valid[h] != 0.0 ? norm[h] : all8(1.0);  // one logarithm for many points
                norm[h] = valid[h] / norm[h];
            }
            if (++since == 64) {  // a factor is at most MOST, so that the product is below 2^768
                for (int lane = 0; lane < 8; lane++) total += log(product[lane]);
                product = all8(1.0);
                since = 0;
            }
            for (int64_t k = 0; k < K; k++) {
                double8 a = p[k][0] * norm[0], b = p[k][1] * norm[1];
                s0[k] += a + b;
                for (int d = 0; d < D; d++) {
                    double8 u = a * c[0][d], v = b * c[1][d];
                    s1[k][d] += u + v;
                    s2[k][d] += u * c[0][d] + v * c[1][d];
                }
            }
        }
        for (int lane = 0; lane < 8; lane++) total += tops[lane] + log(product[lane]);
#pragma omp critical
        for (int64_t k = 0; k < K; k++) {
            zeroth[k] += sum8(s0[k]);
            for (int d = 0; d < D; d++) {
                first[k][d] += sum8(s1[k][d]);
                second[k][d] += sum8(s2[k][d]);
            }
        }
    }
    double *g_logits = (double *)out[0], *g_means = (double *)out[1], *g_logs = (double *)out[2];
    for (int64_t k = 0; k < K; k++) {
        g_logits[k] = zeroth[k] / N - exp(logits[k] - normaliser);
        for (int d = 0; d < D; d++) {
            double m = means[k * D + d], e = scale[k][d] * scale[k][d];
            g_means[k * D + d] = (first[k][d] - m * zeroth[k]) * e / N;
            g_logs[k * D + d] = ((second[k][d] - 2.0 * m * first[k][d] + m * m * zeroth[k]) * e - zeroth[k]) / N;
        }
    }
    return total / N;
}
