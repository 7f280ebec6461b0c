// Eight stars in a vector and a loop over those that attract them. Backward each pair is computed again from the
// positions, which are kept: the adjoint of star i gathers from all j, as the acceleration does, so nothing is scattered.
#include "instructions.h"

static Buffer<double> positions_of, state_of;

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *mass = (const double *)in[0], *x0 = (const double *)in[1], *v0 = (const double *)in[2];
    const double *times = (const double *)in[3];
    double *g_mass = (double *)out[0], *g_x = (double *)out[1], *g_v = (double *)out[2];
    int64_t n = sizes[0], steps = sizes[5], w = (n + 7) / 8 * 8;
    double *positions = positions_of.get((steps + 1) * 3 * w), *state = state_of.get(14 * w);
    double *v = state, *m = state + 3 * w, *ax = state + 4 * w, *av = state + 7 * w, *am = state + 10 * w;
    double *scaled = state + 11 * w;
    memset(state, 0, 14 * w * sizeof(double));
    memset(positions, 0, 3 * w * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        m[i] = mass[i];
        for (int c = 0; c < 3; c++) {
            positions[c * w + i] = x0[3 * i + c];
            v[c * w + i] = v0[3 * i + c];
        }
    }
    const double softening = 0.05;
#pragma omp parallel if (n >= 32)
    {
        int64_t threads = omp_get_num_threads(), me = omp_get_thread_num(), blocks = w / 8;
        int64_t begin = 8 * (blocks * me / threads), end = 8 * (blocks * (me + 1) / threads);
        for (int64_t t = 0; t < steps; t++) {
            double dt = times[t];
            const double *from = positions + t * 3 * w;
            double *x = positions + (t + 1) * 3 * w;
            for (int c = 0; c < 3; c++)
                for (int64_t i = begin; i < end; i++) x[c * w + i] = from[c * w + i] + dt * v[c * w + i];
#pragma omp barrier
            for (int64_t i = begin; i < end; i += 8) {
                double8 p = load8(x + i), q = load8(x + w + i), r = load8(x + 2 * w + i), a = {}, b = {}, c = {};
                for (int64_t j = 0; j < n; j++) {
                    double8 dx = x[j] - p, dy = x[w + j] - q, dz = x[2 * w + j] - r;
                    double8 y = inverse_root(dx * dx + dy * dy + dz * dz + softening), f = m[j] * (y * y * y);
                    a += f * dx;
                    b += f * dy;
                    c += f * dz;
                }
                store8(v + i, load8(v + i) + dt * a);
                store8(v + w + i, load8(v + w + i) + dt * b);
                store8(v + 2 * w + i, load8(v + 2 * w + i) + dt * c);
            }
        }
        const double *x = positions + steps * 3 * w;
        for (int c = 0; c < 3; c++)
            for (int64_t i = begin; i < end; i++) {
                ax[c * w + i] = 2.0 * x[c * w + i];
                av[c * w + i] = 2.0 * m[i] * v[c * w + i];
                am[i] += v[c * w + i] * v[c * w + i];
            }
        for (int64_t t = steps; t-- > 0;) {
            double dt = times[t];
            const double *x = positions + (t + 1) * 3 * w;
            for (int c = 0; c < 3; c++)  // the adjoint of the acceleration
                for (int64_t i = begin; i < end; i++) scaled[c * w + i] = dt * av[c * w + i];
#pragma omp barrier
            for (int64_t i = begin; i < end; i += 8) {
                double8 p = load8(x + i), q = load8(x + w + i), r = load8(x + 2 * w + i), mi = load8(m + i);
                double8 sx = load8(scaled + i), sy = load8(scaled + w + i), sz = load8(scaled + 2 * w + i);
                double8 a = {}, b = {}, c = {}, g = {};
                for (int64_t j = 0; j < n; j++) {
                    double8 dx = x[j] - p, dy = x[w + j] - q, dz = x[2 * w + j] - r;
                    double8 y = inverse_root(dx * dx + dy * dy + dz * dz + softening), y2 = y * y, f = y2 * y;
                    double jx = scaled[j], jy = scaled[w + j], jz = scaled[2 * w + j], mj = m[j];
                    double8 along = jx * dx + jy * dy + jz * dz;
                    double8 bx = mi * jx - mj * sx, by = mi * jy - mj * sy, bz = mi * jz - mj * sz;
                    double8 h = 3.0 * y2 * (bx * dx + by * dy + bz * dz);
                    g -= f * along;
                    a += f * (bx - h * dx);
                    b += f * (by - h * dy);
                    c += f * (bz - h * dz);
                }
                store8(am + i, load8(am + i) + g);
                double8 ux = load8(ax + i) + a, uy = load8(ax + w + i) + b, uz = load8(ax + 2 * w + i) + c;
                store8(ax + i, ux);
                store8(ax + w + i, uy);
                store8(ax + 2 * w + i, uz);
                store8(av + i, load8(av + i) + dt * ux);
                store8(av + w + i, load8(av + w + i) + dt * uy);
                store8(av + 2 * w + i, load8(av + 2 * w + i) + dt * uz);
            }
#pragma omp barrier
        }
    }
    double energy = 0.0;
    const double *x = positions + steps * 3 * w;
    for (int64_t i = 0; i < n; i++) {
        g_mass[i] = am[i];
        for (int c = 0; c < 3; c++) {
            energy += m[i] * v[c * w + i] * v[c * w + i] + x[c * w + i] * x[c * w + i];
            g_x[3 * i + c] = ax[c * w + i];
            g_v[3 * i + c] = av[c * w + i];
        }
    }
    return energy;
}
