// Three complex transforms in all: signal and kernel are the real and the imaginary part of one, as are both gradients;
// the convolution and its error are real, and take a transform of half the length each.
//
// A transform of n = A B numbers is B transforms of length A, rotations, and A transforms of length B; eight of them at
// a time are the lanes of a vector, and stay in the first cache.
#include "anchor.h"

struct Plan {  // of transforms of one length within a vector
    int64_t length = 0;
    double *re = nullptr, *im = nullptr;  // exp(-2 pi i k / length)
    int *order = nullptr;                 // which frequency is at a place
    void make(int64_t n) {
        length = n;
        re = (double *)malloc(n * sizeof(double));
        im = (double *)malloc(n * sizeof(double));
        order = (int *)malloc(n * sizeof(int));
        for (int64_t k = 0; k < n; k++) {
            re[k] = cos(2.0 * M_PI * k / n);
            im[k] = -sin(2.0 * M_PI * k / n);
        }
        for (int64_t p = 0; p < n; p++) {
            int64_t rest = p, span = n, weight = 1, k = 0;
            while (span > 1) {
                int64_t radix = span % 4 == 0 ? 4 : 2;
                span /= radix;
                k += rest / span * weight;
                rest %= span;
                weight *= radix;
            }
            order[p] = (int)k;
        }
        kept_bytes += n * 20;
    }
};

struct Transform {
    int64_t n = 0, A = 0, B = 0;
    Plan rows, columns;
    double *block_re = nullptr, *block_im = nullptr, *work_re = nullptr, *work_im = nullptr;
    double8 *lane_re = nullptr, *lane_im = nullptr;
    void make(int64_t length) {
        n = length;
        for (A = 8; A * A < n; A *= 2) {}
        B = n / A;
        columns.make(A);
        rows.make(B);
        // exp(-2 pi i (b + lane) k / n) is a product of a number for the block of columns and a vector for the lanes: a
        // table of all would not stay in the cache. The work is kept in blocks of eight columns, one after the other,
        // because rows of a power of two share few sets of the caches.
        block_re = (double *)allocate(n / 8 * sizeof(double));
        block_im = (double *)allocate(n / 8 * sizeof(double));
        lane_re = (double8 *)allocate(A * sizeof(double8));
        lane_im = (double8 *)allocate(A * sizeof(double8));
        work_re = (double *)allocate(n * sizeof(double));
        work_im = (double *)allocate(n * sizeof(double));
        for (int64_t p = 0; p < A; p++) {
            for (int64_t b = 0; b < B / 8; b++) {
                double angle = 2.0 * M_PI * (double)(columns.order[p] * 8 * b % n) / n;
                block_re[b * A + p] = cos(angle);
                block_im[b * A + p] = -sin(angle);
            }
            for (int64_t lane = 0; lane < 8; lane++) {
                double angle = 2.0 * M_PI * (double)(columns.order[p] * lane % n) / n;
                lane_re[p][lane] = cos(angle);
                lane_im[p][lane] = -sin(angle);
            }
        }
        kept_bytes += (2 * n + n / 4 + 16 * A) * sizeof(double);
    }
};

static Transform whole, half;
static Buffer<double> numbers_of, turns_of;

// In place, by decimation in frequency: radix 4, and one step of radix 2 where the length asks for it.
static void transform_lanes(const Plan &plan, double8 *re, double8 *im) {
    int64_t n = plan.length, stride = 1, span = n;
    for (; span >= 4; span /= 4, stride *= 4) {
        int64_t q = span / 4;
        for (int64_t j = 0; j < q; j++) {
            double r1 = plan.re[j * stride], i1 = plan.im[j * stride], r2 = plan.re[2 * j * stride];
            double i2 = plan.im[2 * j * stride], r3 = plan.re[3 * j * stride], i3 = plan.im[3 * j * stride];
            for (int64_t s = j; s < n; s += span) {
                double8 ar = re[s], ai = im[s], br = re[s + q], bi = im[s + q];
                double8 cr = re[s + 2 * q], ci = im[s + 2 * q], dr = re[s + 3 * q], di = im[s + 3 * q];
                double8 pr = ar + cr, pi = ai + ci, mr = ar - cr, mi = ai - ci;
                double8 sr = br + dr, si = bi + di, tr = br - dr, ti = bi - di;
                re[s] = pr + sr;
                im[s] = pi + si;
                double8 ur = mr + ti, ui = mi - tr, vr = pr - sr, vi = pi - si, wr = mr - ti, wi = mi + tr;
                re[s + q] = ur * r1 - ui * i1;
                im[s + q] = ur * i1 + ui * r1;
                re[s + 2 * q] = vr * r2 - vi * i2;
                im[s + 2 * q] = vr * i2 + vi * r2;
                re[s + 3 * q] = wr * r3 - wi * i3;
                im[s + 3 * q] = wr * i3 + wi * r3;
            }
        }
    }
    if (span == 2)
        for (int64_t s = 0; s < n; s += 2) {
            double8 ar = re[s], ai = im[s], br = re[s + 1], bi = im[s + 1];
            re[s] = ar + br;
            im[s] = ai + bi;
            re[s + 1] = ar - br;
            im[s + 1] = ai - bi;
        }
}

// Called by all threads; ends with a barrier. With the parts exchanged, in and out, it is the inverse times n.
static void transform(const Transform &plan, const double *in_re, const double *in_im, double *out_re, double *out_im) {
    const int64_t A = plan.A, B = plan.B;
    double8 re[1024], im[1024];
#pragma omp for schedule(static)
    for (int64_t b = 0; b < B; b += 8) {
        for (int64_t a = 0; a < A; a++) {
            re[a] = load8(in_re + a * B + b);
            im[a] = load8(in_im + a * B + b);
            __builtin_prefetch(in_re + a * B + b + 8, 0, 1);  // the next columns, which are far apart in memory
            __builtin_prefetch(in_im + a * B + b + 8, 0, 1);
        }
        transform_lanes(plan.columns, re, im);
        for (int64_t p = 0; p < A; p++) {
            double br = plan.block_re[b / 8 * A + p], bi = plan.block_im[b / 8 * A + p];
            double8 r = re[p], i = im[p], lr = plan.lane_re[p], li = plan.lane_im[p];
            double8 cr = br * lr - bi * li, ci = br * li + bi * lr;
            int64_t row = b * A + 8 * plan.columns.order[p];
            store8(plan.work_re + row, r * cr - i * ci);
            store8(plan.work_im + row, r * ci + i * cr);
        }
    }
#pragma omp for schedule(static)
    for (int64_t a = 0; a < A; a += 8) {
        for (int64_t b = 0; b < B; b += 8) {
            for (int lane = 0; lane < 8; lane++) {
                re[b + lane] = load8(plan.work_re + b * A + 8 * (a + lane));
                im[b + lane] = load8(plan.work_im + b * A + 8 * (a + lane));
            }
            transpose8(re + b);
            transpose8(im + b);
        }
        transform_lanes(plan.rows, re, im);
        for (int64_t p = 0; p < B; p++) {
            int64_t place = plan.rows.order[p] * A + a;
            store8(out_re + place, re[p]);
            store8(out_im + place, im[p]);
            __builtin_prefetch(out_re + place + 8, 1, 1);
            __builtin_prefetch(out_im + place + 8, 1, 1);
        }
    }
}

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *signal = (const double *)in[0], *kernel = (const double *)in[1], *wanted = (const double *)in[2];
    double *g_signal = (double *)out[0], *g_kernel = (double *)out[1], total = 0.0;
    const int64_t n = sizes[0], h = n / 2;
    if (n < 128 || (n & (n - 1)) != 0 || n > 1 << 20) return NAN;
    double *turn_re = turns_of.get(2 * (h + 1)), *turn_im = turn_re + h + 1;
    if (whole.n != n) {
        whole.make(n);
        half.make(h);
        for (int64_t k = 0; k <= h; k++) {
            turn_re[k] = cos(2.0 * M_PI * k / n);
            turn_im[k] = -sin(2.0 * M_PI * k / n);
        }
    }
    // z: the spectrum of signal + i kernel, one number more at its end, which is the first again
    double *zr = numbers_of.get(2 * (n + 8) + 2 * (h + 8)), *zi = zr + n + 8, *cr = zi + n + 8, *ci = cr + h + 8;
#pragma omp parallel reduction(+ : total) if (n >= 4096)
    {
        transform(whole, signal, kernel, zr, zi);
#pragma omp single
        {
            zr[n] = zr[0];
            zi[n] = zi[0];
        }
        // 4 S = 2 (z[k] + conj z[n - k]) and 4 K likewise; P = S K, for k and h - k, packed for the transform of length h
        const double eighth = 0.125;
#pragma omp for schedule(static)
        for (int64_t k = 0; k <= h / 2; k++) {
            int64_t m = h - k;
            double sr = zr[k] + zr[n - k], si = zi[k] - zi[n - k], kr = zi[k] + zi[n - k], ki = zr[n - k] - zr[k];
            double pr = sr * kr - si * ki, pi = sr * ki + si * kr;
            sr = zr[m] + zr[n - m], si = zi[m] - zi[n - m], kr = zi[m] + zi[n - m], ki = zr[n - m] - zr[m];
            double qr = sr * kr - si * ki, qi = sr * ki + si * kr;
            double er = pr + qr, ei = pi - qi, dr = pr - qr, di = pi + qi, wr = turn_re[k], wi = -turn_im[k];
            double odd_r = dr * wr - di * wi, odd_i = dr * wi + di * wr;
            cr[k] = eighth * (er - odd_i);
            ci[k] = eighth * (ei + odd_r);
            if (m < h) {
                cr[m] = eighth * (er + odd_i);
                ci[m] = eighth * (odd_r - ei);
            }
        }
        transform(half, ci, cr, ci, cr);
        const double scale = 1.0 / h, by = 2.0 / n;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < h; k++) {
            double even = cr[k] * scale - wanted[2 * k], odd = ci[k] * scale - wanted[2 * k + 1];
            total += even * even + odd * odd;
            cr[k] = by * even;
            ci[k] = by * odd;
        }
        transform(half, cr, ci, cr, ci);
#pragma omp single
        {
            cr[h] = cr[0];
            ci[h] = ci[0];
        }
        // E from the spectrum of length h; E conj K + i E conj S for k and n - k replaces z
        const double quarter = 0.25 / n;
#pragma omp for schedule(static)
        for (int64_t k = 0; k <= h; k++) {
            int64_t m = n - k;
            double er = cr[k] + cr[h - k], ei = ci[k] - ci[h - k], odd_r = ci[k] + ci[h - k], odd_i = cr[h - k] - cr[k];
            double wr = turn_re[k], wi = turn_im[k];
            er += odd_r * wr - odd_i * wi;
            ei += odd_r * wi + odd_i * wr;
            double sr = zr[k] + zr[m], si = zi[k] - zi[m], kr = zi[k] + zi[m], ki = zr[m] - zr[k];
            double ur = er * kr + ei * ki, ui = ei * kr - er * ki, vr = er * sr + ei * si, vi = ei * sr - er * si;
            zr[k] = quarter * (ur - vi);
            zi[k] = quarter * (ui + vr);
            zr[m] = quarter * (ur + vi);
            zi[m] = quarter * (vr - ui);
        }
        transform(whole, zi, zr, g_kernel, g_signal);
    }
    return total / n;
}
