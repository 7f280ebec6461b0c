// The quadratic forms of all points as one product: |Q (x - m)|^2 is linear in the products x_i x_j, the x_i and one.
// The gradients are moments, and so the transposed product. Points are taken in blocks that stay in the second cache.
// In few dimensions eight points are a vector instead, and sums of products stay in registers.
#include "blas.h"

static Buffer<double> coefficients_of, moments_of, features_of, inner_of, triangle_of;
static Buffer<double8> sums_of;
enum { BLOCK = 96, CHUNK = 256, VECTORS = CHUNK / 8, MOST = 64 };

#define UNROLL _Pragma("GCC unroll 16")

// Adds p x_i x_j for FROM <= i < TO, j <= i, and p x_i to `sums`, which is in the order of the features.
template <int D, int FROM, int TO>
static void add_moments(const double8 (*x)[VECTORS], const double8 *p, int vectors, double8 *sums) {
    double8 pairs[TO * (TO + 1) / 2 - FROM * (FROM + 1) / 2], first[TO - FROM];
    double8 *second = sums + FROM * (FROM + 1) / 2, *linear = sums + D * (D + 1) / 2 + FROM;
    UNROLL for (int e = 0; e < TO * (TO + 1) / 2 - FROM * (FROM + 1) / 2; e++) pairs[e] = second[e];
    UNROLL for (int i = 0; i < TO - FROM; i++) first[i] = linear[i];
    for (int v = 0; v < vectors; v++) {
        int e = 0;
        UNROLL for (int i = FROM; i < TO; i++) {
            double8 y = p[v] * x[i][v];
            first[i - FROM] += y;
            UNROLL for (int j = 0; j <= i; j++) pairs[e++] += y * x[j][v];
        }
    }
    UNROLL for (int e = 0; e < TO * (TO + 1) / 2 - FROM * (FROM + 1) / 2; e++) second[e] = pairs[e];
    UNROLL for (int i = 0; i < TO - FROM; i++) linear[i] = first[i];
}

// The sum of logarithms for the points from `start`, and their moments.
template <int D>
static double direct(const double *points, int64_t start, int64_t count, const double *triangles, const double *means,
                     const double *offsets, int64_t K, double8 *sums) {
    enum { E = D * (D + 1) / 2 + D + 1 };
    double8 x[D][VECTORS], p[MOST][VECTORS], total = {}, product = all8(1.0);
    int vectors = (int)(count + 7) / 8;
    for (int v = 0; v < vectors; v++)
        for (int lane = 0; lane < 8; lane++) {
            const double *row = points + (start + (v * 8 + lane < count ? v * 8 + lane : 0)) * D;
            for (int d = 0; d < D; d++) ((double *)&x[d][v])[lane] = row[d];
        }
    for (int64_t k = 0; k < K; k++) {
        const double *Q = triangles + k * D * D, *m = means + k * D;
        for (int v = 0; v < vectors; v += 2) {  // there is room for one more
            double8 a[D], b[D], s = {}, t = {};
            UNROLL for (int d = 0; d < D; d++) {
                a[d] = x[d][v] - m[d];
                b[d] = x[d][v + 1] - m[d];
            }
            UNROLL for (int i = 0; i < D; i++) {
                double8 y = Q[i * D] * a[0], z = Q[i * D] * b[0];
                UNROLL for (int j = 1; j <= i; j++) {
                    y += Q[i * D + j] * a[j];
                    z += Q[i * D + j] * b[j];
                }
                s += y * y;
                t += z * z;
            }
            p[k][v] = offsets[k] - 0.5 * s;
            p[k][v + 1] = offsets[k] - 0.5 * t;
        }
    }
    for (int v = 0; v < vectors; v++) {
        double8 top = p[0][v], norm = {}, valid;
        for (int lane = 0; lane < 8; lane++) valid[lane] = v * 8 + lane < count;
        for (int64_t k = 1; k < K; k++) top = p[k][v] > top ? p[k][v] : top;
        for (int64_t k = 0; k < K; k++) {
            p[k][v] = exp8(p[k][v] - top);
            norm += p[k][v];
        }
        total += valid * top;
        product *= valid != 0.0 ? norm : all8(1.0);  // at most MOST to the power of VECTORS
        norm = valid / norm;
        for (int64_t k = 0; k < K; k++) p[k][v] *= norm;
    }
    for (int64_t k = 0; k < K; k++) {
        double8 zeroth = sums[k * E + E - 1];
        for (int v = 0; v < vectors; v++) zeroth += p[k][v];
        sums[k * E + E - 1] = zeroth;
        if (D <= 6) {
            add_moments<D, 0, D>(x, p[k], vectors, sums + k * E);
        } else {
            add_moments<D, 0, D < 6 ? D : 6>(x, p[k], vectors, sums + k * E);
            add_moments<D, D < 6 ? D - 1 : 6, D < 8 ? D : 8>(x, p[k], vectors, sums + k * E);
            add_moments<D, D < 8 ? D - 1 : 8, D>(x, p[k], vectors, sums + k * E);
        }
    }
    double result = sum8(total);
    for (int lane = 0; lane < 8; lane++) result += log(product[lane]);
    return result;
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *alphas = (const double *)in[0], *means = (const double *)in[1], *logs = (const double *)in[2];
    const double *lower = (const double *)in[3], *x = (const double *)in[4];
    int64_t K = sizes[0], d = sizes[2], L = sizes[6], N = sizes[7];
    const int64_t E = d * (d + 1) / 2 + d + 1;  // features: products of pairs, numbers, one
    int threads = omp_get_max_threads();
    double *coefficients = coefficients_of.get(K * E), *moments = moments_of.get(threads * K * E);
    double *features = features_of.get(threads * BLOCK * E), *inner = inner_of.get(threads * BLOCK * K);
    double *triangles = triangle_of.get(K * d * d), offsets[MOST];
    bool few = (d == 5 || d == 10) && K <= MOST;
    double8 *sums = few ? sums_of.get(threads * K * E) : nullptr;
    double *g_alphas = (double *)out[0], *g_means = (double *)out[1], *g_logs = (double *)out[2];
    double *g_lower = (double *)out[3];
    lapack.set_num_threads(1);
    double largest = -INFINITY, sum = 0.0, prior = 0.0, total = 0.0;
    for (int64_t k = 0; k < K; k++) largest = fmax(largest, alphas[k]);
    for (int64_t k = 0; k < K; k++) sum += exp(alphas[k] - largest);
    double normaliser = largest + log(sum);
#pragma omp parallel reduction(+ : prior, total)
    {
        int me = omp_get_thread_num();
        double *mine = moments + me * K * E, *f = features + me * BLOCK * E, *w = inner + me * BLOCK * K;
        double *squared = f;  // d x d, before the features are needed
#pragma omp for schedule(static)
        for (int64_t k = 0; k < K; k++) {
            double *Q = triangles + k * d * d;
            double offset = alphas[k], turned[256];
            const double *element = lower + k * L;  // by rows
            for (int64_t i = 0; i < d; i++) {
                for (int64_t j = 0; j < i; j++, element++) {
                    Q[i * d + j] = *element;
                    prior += 0.5 * *element * *element;
                }
                double scale = exp(logs[k * d + i]);
                Q[i * d + i] = scale;
                for (int64_t j = i + 1; j < d; j++) Q[i * d + j] = 0.0;
                offset += logs[k * d + i];
                prior += 0.5 * scale * scale - logs[k * d + i];
            }
            if (few) {
                offsets[k] = offset;
                continue;
            }
            // A = Q' Q; by rows Q is the transpose by columns
            dgemm('N', 'T', d, d, d, 1.0, Q, d, Q, d, 0.0, squared, d);
            double *row = coefficients + k * E;
            const double *m = means + k * d;
            for (int64_t i = 0; i < d; i++) {
                double s = 0.0;
                for (int64_t j = 0; j < d; j++) s += squared[i * d + j] * m[j];
                turned[i] = s;
            }
            for (int64_t i = 0; i < d; i++) {
                for (int64_t j = 0; j < i; j++) *row++ = -squared[i * d + j];
                *row++ = -0.5 * squared[i * d + i];
            }
            for (int64_t i = 0; i < d; i++) {
                *row++ = turned[i];
                offset -= 0.5 * turned[i] * m[i];
            }
            *row = offset;
        }
        memset(mine, 0, K * E * sizeof(double));
        if (few) {
            double8 *own = sums + me * K * E;
            memset(own, 0, K * E * sizeof(double8));
#pragma omp for schedule(static) nowait
            for (int64_t start = 0; start < N; start += CHUNK) {
                int64_t count = N - start < CHUNK ? N - start : CHUNK;
                if (d == 5) total += direct<5>(x, start, count, triangles, means, offsets, K, own);
                if (d == 10) total += direct<10>(x, start, count, triangles, means, offsets, K, own);
            }
            for (int64_t e = 0; e < K * E; e++) mine[e] = sum8(own[e]);
        }
#pragma omp for schedule(dynamic, 1)
        for (int64_t start = 0; start < (few ? 0 : N); start += BLOCK) {
            int64_t count = N - start < BLOCK ? N - start : BLOCK;
            for (int64_t n = 0; n < count; n++) {
                double *row = f + n * E;
                const double *point = x + (start + n) * d;
                for (int64_t i = 0; i < d; i++) {
                    double p = point[i];
                    for (int64_t j = 0; j <= i; j++) row[j] = p * point[j];
                    row += i + 1;
                }
                memcpy(row, point, d * sizeof(double));
                row[d] = 1.0;
            }
            dgemm('T', 'N', K, count, E, 1.0, coefficients, E, f, E, 0.0, w, K);
            for (int64_t n = 0; n < count; n++) {
                double *row = w + n * K, top = -INFINITY, norm = 0.0;
                for (int64_t k = 0; k < K; k++) top = row[k] > top ? row[k] : top;
                for (int64_t k = 0; k < K; k++) {
                    row[k] = exp(row[k] - top);
                    norm += row[k];
                }
                total += top + log(norm);
                double by = 1.0 / norm;
                for (int64_t k = 0; k < K; k++) row[k] *= by;
            }
            dgemm('N', 'T', E, K, count, 1.0, f, E, w, K, 1.0, mine, E);
        }
#pragma omp for schedule(static)
        for (int64_t k = 0; k < K; k++) {
            double *moment = moments + k * E, *Q = triangles + k * d * d, *full = f, *product = f + d * d;
            for (int t = 1; t < threads; t++)
                for (int64_t e = 0; e < E; e++) moment[e] += moments[t * K * E + k * E + e];
            const double *m = means + k * d, *first = moment + d * (d + 1) / 2;
            double zeroth = first[d], shift[256];
            for (int64_t i = 0; i < d; i++) {
                shift[i] = first[i] - zeroth * m[i];
                for (int64_t j = 0; j <= i; j++) {
                    double s = *moment++ - m[i] * first[j] - m[j] * first[i] + zeroth * m[i] * m[j];
                    full[i * d + j] = full[j * d + i] = s;
                }
            }
            // the gradient by Q is -Q times the second moment; by m it is Q'Q times the first
            if (few) {
                for (int64_t i = 0; i < d; i++) {
                    for (int64_t j = 0; j < d; j++) product[i * d + j] = 0.0;
                    for (int64_t l = 0; l <= i; l++)
                        for (int64_t j = 0; j < d; j++) product[i * d + j] += Q[i * d + l] * full[l * d + j];
                }
            } else {
                dgemm('N', 'N', d, d, d, 1.0, full, d, Q, d, 0.0, product, d);
            }
            double *into = g_lower + k * L;
            const double *element = lower + k * L;
            double turned[256];
            for (int64_t i = 0; i < d; i++) {
                for (int64_t j = 0; j < i; j++) *into++ = -product[i * d + j] - *element++;
                double scale = Q[i * d + i], s = 0.0;
                g_logs[k * d + i] = zeroth - product[i * d + i] * scale - scale * scale + 1.0;
                for (int64_t j = 0; j <= i; j++) s += Q[i * d + j] * shift[j];
                turned[i] = s;
            }
            for (int64_t j = 0; j < d; j++) g_means[k * d + j] = 0.0;
            for (int64_t i = 0; i < d; i++)
                for (int64_t j = 0; j <= i; j++) g_means[k * d + j] += Q[i * d + j] * turned[i];
            g_alphas[k] = zeroth - N * exp(alphas[k] - normaliser);
        }
    }
    return total - N * normaliser - prior;
}
