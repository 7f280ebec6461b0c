// One loop over the houses; neighbours are often of one county, so four sums for each are kept apart.
#include "instructions.h"

static Buffer<double> work_of;

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *theta = (const double *)in[0], *floor_of = (const double *)in[2], *radon = (const double *)in[3];
    const int64_t *county = (const int64_t *)in[1];
    double *g = (double *)out[0];
    int64_t J = sizes[0] - 4, N = sizes[1];
    double *intercepts = work_of.get(J + N + 4 * J), *errors = intercepts + J, *sums = errors + N;
    const double mean = theta[0], spread = exp(theta[1]), slope = theta[2], noise = exp(-theta[3]), *own = theta + 4;
    double owns = 0.0, fit = 0.0, along = 0.0;
    for (int64_t j = 0; j < J; j++) {
        intercepts[j] = mean + spread * own[j];
        owns += own[j] * own[j];
    }
    memset(sums, 0, 4 * J * sizeof(double));
    double8 fits = {}, alongs = {};
    int64_t i = 0;
    for (; i + 8 <= N; i += 8) {
        double8 own_of = gather8(intercepts, county + i);
        double8 level = load8(floor_of + i), e = load8(radon + i) - own_of - slope * level;
        store8(errors + i, e);
        fits += e * e;
        alongs += e * level;
    }
    for (; i < N; i++) {
        double e = radon[i] - intercepts[county[i]] - slope * floor_of[i];
        errors[i] = e;
        fit += e * e;
        along += e * floor_of[i];
    }
    fit += sum8(fits);
    along += sum8(alongs);
    for (i = 0; i + 4 <= N; i += 4) {
        sums[4 * county[i]] += errors[i];
        sums[4 * county[i + 1] + 1] += errors[i + 1];
        sums[4 * county[i + 2] + 2] += errors[i + 2];
        sums[4 * county[i + 3] + 3] += errors[i + 3];
    }
    for (; i < N; i++) sums[4 * county[i]] += errors[i];
    double squared = noise * noise, all = 0.0, spreads = 0.0;
    for (int64_t j = 0; j < J; j++) {
        double s = squared * ((sums[4 * j] + sums[4 * j + 1]) + (sums[4 * j + 2] + sums[4 * j + 3]));
        all += s;
        spreads += s * own[j];
        g[4 + j] = s * spread - own[j];
    }
    double wide = spread * spread, loud = 1.0 / squared;
    g[0] = all - 0.01 * mean;
    g[1] = spreads * spread + 1.0 - 2.0 * wide / (1.0 + wide);
    g[2] = along * squared - 0.01 * slope;
    g[3] = fit * squared - N + 1.0 - 2.0 * loud / (1.0 + loud);
    double prior = -0.5 * (owns + 0.01 * mean * mean + 0.01 * slope * slope);
    return -0.5 * fit * squared - N * theta[3] + prior + theta[1] + theta[3] - log((1.0 + wide) * (1.0 + loud));
}
