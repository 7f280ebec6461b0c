// The examples of a batch do not meet before the end, so that each thread takes its own through all steps. Four rows of
// a state times the matrix are sixteen vectors in registers. What the gradients by the weights sum over all steps is two
// products at the end.
#include "blas.h"

enum { D = 32, H = 64, ROWS = 4 };

static Buffer<float> states_of, slopes_of, inputs_of, sums_of;

static inline float16 load16(const float *p) { return *(const float16u *)p; }
static inline void store16(float *p, float16 v) { *(float16u *)p = v; }
static inline float16 all16(float x) { return x - float16{}; }

static inline float16 exp16(float16 x) {
    typedef int32_t int16x __attribute__((vector_size(64)));
    const float16 shift = all16(12582912.0f);
    float16 t = x * 1.44269504f + shift;
    hide_origin(t);
    float16 n = t - shift, r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float16 p = r * 1.9841270e-4f + 1.3888889e-3f;
    p = p * r + 8.3333333e-3f;
    p = p * r + 4.1666667e-2f;
    p = p * r + 1.6666667e-1f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    return (float16)((int16x)p + ((int16x)t << 23));
}
static inline float16 tanh16(float16 x) {
    x = x > 10.0f ? all16(10.0f) : x;
    x = x < -10.0f ? all16(-10.0f) : x;
    // near zero the quotient would cancel: there the series of x
    float16 e = exp16(2.0f * x), far = (e - 1.0f) / (e + 1.0f), s = x * x;
    float16 near = x * (1.0f + s * (-0.333333333f + s * (0.133333333f + s * (-0.0539682540f + s * 0.0218694885f))));
    return s < 0.04f ? near : far;
}

// ROWS x H += (ROWS x K) @ (K x H)
template <int K> static inline void multiply(const float *a, const float *b, float16 (*c)[4]) {
    for (int k = 0; k < K; k++) {
        float16 v[4];
        for (int j = 0; j < 4; j++) v[j] = load16(b + k * H + 16 * j);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < 4; j++) c[i][j] += a[i * K + k] * v[j];
    }
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const float *w = (const float *)in[0], *u = (const float *)in[1], *b = (const float *)in[2], *x = (const float *)in[3];
    const float *target = (const float *)in[4];
    int64_t T = sizes[5], N = sizes[6];
    if (sizes[0] != D || sizes[1] != H) return NAN;
    int64_t groups = (N + ROWS - 1) / ROWS, rows = T * ROWS;
    int threads = groups > 1 ? omp_get_max_threads() : 1;
    // of each group, by steps: the states, one more than steps; the slopes before tanh; the inputs
    float *states = states_of.get(groups * (T + 1) * ROWS * H), *slopes = slopes_of.get(groups * rows * H);
    float *inputs = inputs_of.get(groups * rows * D), *sums = sums_of.get(threads * (D + H + 1) * H);
    float turned[H * H] __attribute__((aligned(64)));
    for (int i = 0; i < H; i++)
        for (int j = 0; j < H; j++) turned[j * H + i] = u[i * H + j];
    lapack.set_num_threads(1);
    double total = 0.0;
    float by = 2.0f / (N * H);
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        int me = omp_get_thread_num();
        float *gw = sums + me * (D + H + 1) * H, *gu = gw + D * H, *gb = gu + H * H, one = 0.0f;
        memset(gw, 0, (D + H + 1) * H * sizeof(float));
        for (int64_t group = me; group < groups; group += threads) {
            float *state = states + group * (T + 1) * ROWS * H, *slope = slopes + group * rows * H;
            float *input = inputs + group * rows * D;
            int64_t count = N - group * ROWS < ROWS ? N - group * ROWS : ROWS;
            memset(state, 0, ROWS * H * sizeof(float));
            float16 c[ROWS][4];
            for (int64_t t = 0; t < T; t++) {
                float *mine = input + t * ROWS * D;
                memcpy(mine, x + (t * N + group * ROWS) * D, count * D * sizeof(float));
                memset(mine + count * D, 0, (ROWS - count) * D * sizeof(float));
                for (int i = 0; i < ROWS; i++)
                    for (int j = 0; j < 4; j++) c[i][j] = load16(b + 16 * j);
                multiply<D>(mine, w, c);
                multiply<H>(state + t * ROWS * H, u, c);
                for (int i = 0; i < ROWS; i++)
                    for (int j = 0; j < 4; j++) store16(state + ((t + 1) * ROWS + i) * H + 16 * j, tanh16(c[i][j]));
            }
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < 4; j++) {
                    if (i >= count) {
                        c[i][j] = (float16){};
                        continue;
                    }
                    float16 e = load16(state + (T * ROWS + i) * H + 16 * j) - load16(target + (group * ROWS + i) * H + 16 * j);
                    for (int lane = 0; lane < 16; lane++) total += (double)e[lane] * e[lane];
                    c[i][j] = by * e;
                }
            for (int64_t t = T; t-- > 0;) {
                float *here = slope + t * ROWS * H;
                for (int i = 0; i < ROWS; i++)
                    for (int j = 0; j < 4; j++) {
                        float16 s = load16(state + ((t + 1) * ROWS + i) * H + 16 * j);
                        store16(here + i * H + 16 * j, c[i][j] * (1.0f - s * s));
                        c[i][j] = (float16){};
                    }
                multiply<H>(here, turned, c);
            }
            one = 1.0f;
            sgemm('N', 'T', H, D, rows, 1.0f, slope, H, input, D, one, gw, H);
            sgemm('N', 'T', H, H, rows, 1.0f, slope, H, state, H, one, gu, H);
            for (int64_t r = 0; r < rows; r++)
                for (int j = 0; j < H; j++) gb[j] += slope[r * H + j];
        }
    }
    float *g[3] = {(float *)out[0], (float *)out[1], (float *)out[2]};
    int64_t lengths[3] = {D * H, H * H, H}, offset = 0;
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < lengths[k]; i++) {
            float s = 0.0f;
            for (int t = 0; t < threads; t++) s += sums[t * (D + H + 1) * H + offset + i];
            g[k][i] = s;
        }
        offset += lengths[k];
    }
    return total / (N * H);
}
