// Products by BLAS, everything between them in the loop that reads their results. By rows a matrix is its transpose by
// columns, so that products have their factors exchanged.
#include "blas.h"

static Buffer<float> hidden1_of, hidden2_of, logits_of, back1_of, back2_of;

static void add_bias_relu(float *x, const float *bias, int rows, int columns) {
#pragma omp parallel for schedule(static) if (rows * columns > 20000)
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float v = x[i * columns + j] + bias[j];
            x[i * columns + j] = v > 0.0f ? v : 0.0f;
        }
}

// The gradient before relu, in place, and its sum over the batch.
static void mask_and_sum(float *g, const float *hidden, float *sum, int rows, int columns) {
#pragma omp parallel for schedule(static) if (rows * columns > 20000)
    for (int block = 0; block < (columns + 63) / 64; block++) {
        int first = block * 64, last = first + 64 < columns ? first + 64 : columns;
        for (int j = first; j < last; j++) sum[j] = 0.0f;
        for (int i = 0; i < rows; i++)
            for (int j = first; j < last; j++) {
                float v = hidden[i * columns + j] > 0.0f ? g[i * columns + j] : 0.0f;
                g[i * columns + j] = v;
                sum[j] += v;
            }
    }
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const float *w1 = (const float *)in[0], *b1 = (const float *)in[1], *w2 = (const float *)in[2];
    const float *b2 = (const float *)in[3], *w3 = (const float *)in[4], *b3 = (const float *)in[5];
    const float *x = (const float *)in[6];
    const int64_t *labels = (const int64_t *)in[7];
    int D = sizes[0], H = sizes[1], G = sizes[4], O = sizes[7], N = sizes[9];
    float *h1 = hidden1_of.get(N * H), *h2 = hidden2_of.get(N * G), *logits = logits_of.get(N * O);
    float *g1 = back1_of.get(N * H), *g2 = back2_of.get(N * G);
    float *gw1 = (float *)out[0], *gb1 = (float *)out[1], *gw2 = (float *)out[2], *gb2 = (float *)out[3];
    float *gw3 = (float *)out[4], *gb3 = (float *)out[5];
    lapack.set_num_threads(omp_get_max_threads());
    sgemm('N', 'N', H, N, D, 1.0f, w1, H, x, D, 0.0f, h1, H);
    add_bias_relu(h1, b1, N, H);
    sgemm('N', 'N', G, N, H, 1.0f, w2, G, h1, H, 0.0f, h2, G);
    add_bias_relu(h2, b2, N, G);
    sgemm('N', 'N', O, N, G, 1.0f, w3, O, h2, G, 0.0f, logits, O);
    double total = 0.0;
    for (int j = 0; j < O; j++) gb3[j] = 0.0f;
    for (int i = 0; i < N; i++) {
        float *row = logits + i * O, top = -INFINITY, sum = 0.0f;
        for (int j = 0; j < O; j++) row[j] += b3[j];
        for (int j = 0; j < O; j++) top = row[j] > top ? row[j] : top;
        float chosen = row[labels[i]] - top;
        for (int j = 0; j < O; j++) {
            row[j] = expf(row[j] - top);
            sum += row[j];
        }
        total += logf(sum) - chosen;
        float by = 1.0f / (sum * N);
        for (int j = 0; j < O; j++) row[j] *= by;
        row[labels[i]] -= 1.0f / N;
        for (int j = 0; j < O; j++) gb3[j] += row[j];
    }
    sgemm('N', 'T', O, G, N, 1.0f, logits, O, h2, G, 0.0f, gw3, O);
    sgemm('T', 'N', G, N, O, 1.0f, w3, O, logits, O, 0.0f, g2, G);
    mask_and_sum(g2, h2, gb2, N, G);
    sgemm('N', 'T', G, H, N, 1.0f, g2, G, h1, H, 0.0f, gw2, G);
    sgemm('T', 'N', H, N, G, 1.0f, w2, G, g2, G, 0.0f, g1, H);
    mask_and_sum(g1, h1, gb1, N, H);
    sgemm('N', 'T', H, D, N, 1.0f, g1, H, x, D, 0.0f, gw1, H);
    return total / N;
}
