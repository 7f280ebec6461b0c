// The rotation is a matrix that is made once for each camera, and an observation adds to the gradient by the matrix;
// that is turned into the gradient by the three numbers of the rotation once for each camera, too. Observations are taken
// eight at a time.
#include "instructions.h"

enum { ROW = 24 };  // of a camera's tables: rotation 9, centre 3, focal length, principal point 2, distortion 2

// An observation, or eight: the value, the gradients by the camera's table (s, and the last number of it), by the point and
// by the weight.
template <class T>
static inline T observe(const T *t, T fourth, const T *x, T weight, T seen_u, T seen_v, T *s, T &last, T *b, T &g_weight) {
    T y0 = x[0] - t[9], y1 = x[1] - t[10], y2 = x[2] - t[11];
    T r0 = t[0] * y0 + t[1] * y1 + t[2] * y2, r1 = t[3] * y0 + t[4] * y1 + t[5] * y2;
    T r2 = t[6] * y0 + t[7] * y1 + t[8] * y2, by = 1.0 / r2, u = r0 * by, v = r1 * by, square = u * u + v * v;
    T focal = t[12], bent = 1.0 + square * (t[15] + fourth * square), pu = u * bent, pv = v * bent;
    T du = pu * focal + t[13] - seen_u, dv = pv * focal + t[14] - seen_v;
    T eu = weight * du, ev = weight * dv, ew = 1.0 - weight * weight;
    g_weight = 2.0 * (eu * du + ev * dv) - 4.0 * ew * weight;
    T gu = 2.0 * weight * eu, gv = 2.0 * weight * ev;  // by the place in the picture
    T hu = gu * focal, hv = gv * focal, across = hu * u + hv * v;
    T slope = 2.0 * across * (t[15] + 2.0 * fourth * square), qu = hu * bent + slope * u, qv = hv * bent + slope * v;
    T g0 = qu * by, g1 = qv * by, g2 = -(qu * u + qv * v) * by;
    b[0] = t[0] * g0 + t[3] * g1 + t[6] * g2;
    b[1] = t[1] * g0 + t[4] * g1 + t[7] * g2;
    b[2] = t[2] * g0 + t[5] * g1 + t[8] * g2;
    s[0] = g0 * y0;
    s[1] = g0 * y1;
    s[2] = g0 * y2;
    s[3] = g1 * y0;
    s[4] = g1 * y1;
    s[5] = g1 * y2;
    s[6] = g2 * y0;
    s[7] = g2 * y1;
    s[8] = g2 * y2;
    s[9] = -b[0];
    s[10] = -b[1];
    s[11] = -b[2];
    s[12] = gu * pu + gv * pv;
    s[13] = gu;
    s[14] = gv;
    s[15] = across * square;
    last = s[15] * square;
    return eu * eu + ev * ev + ew * ew;
}

static Buffer<double> table_of, camera_sums_of, point_sums_of;

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *cameras = (const double *)in[0], *points = (const double *)in[1], *weights = (const double *)in[2];
    const int64_t *camera_of = (const int64_t *)in[3], *point_of = (const int64_t *)in[4];
    const double *seen = (const double *)in[5];
    double *g_cameras = (double *)out[0], *g_points = (double *)out[1], *g_weights = (double *)out[2];
    int64_t C = sizes[0], P = sizes[2], M = sizes[4];
    int threads = M > 2000 ? omp_get_max_threads() : 1;
    double *table = table_of.get(C * ROW), *camera_sums = camera_sums_of.get(threads * C * ROW);
    double *point_sums = point_sums_of.get(threads * P * 4), total = 0.0;
    for (int64_t c = 0; c < C; c++) {
        const double *camera = cameras + 11 * c;
        double *t = table + ROW * c, angle = sqrt(camera[0] * camera[0] + camera[1] * camera[1] + camera[2] * camera[2]);
        double a[3] = {camera[0] / angle, camera[1] / angle, camera[2] / angle};
        double cosine = cos(angle), sine = sin(angle);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) t[3 * i + j] = a[i] * a[j] * (1.0 - cosine) + (i == j ? cosine : 0.0);
        t[1] -= a[2] * sine;
        t[2] += a[1] * sine;
        t[3] += a[2] * sine;
        t[5] -= a[0] * sine;
        t[6] -= a[1] * sine;
        t[7] += a[0] * sine;
        memcpy(t + 9, camera + 3, 8 * sizeof(double));
    }
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        int me = omp_get_thread_num();
        double *mine = camera_sums + me * C * ROW, *near = point_sums + me * P * 4;
        memset(mine, 0, C * ROW * sizeof(double));
        memset(near, 0, P * 4 * sizeof(double));
        int64_t begin = M * me / threads, end = M * (me + 1) / threads;
        double8 totals = {};
        int64_t m = begin;
        for (; m + 8 <= end; m += 8) {  // eight observations: their cameras' rows are the columns of t
            double8 t[16], x[3], s[16], seen_u, seen_v;
            const int64_t *camera = camera_of + m, *point = point_of + m;
            for (int i = 0; i < 8; i++) {
                t[i] = load8(table + ROW * camera[i]);
                t[8 + i] = load8(table + ROW * camera[i] + 8);
            }
            transpose8(t);
            transpose8(t + 8);
            for (int i = 0; i < 3; i++) x[i] = gather8<3>(points + i, point);
            double8 fourth = gather8<ROW>(table + 16, camera);
            double8 even = load8(seen + 2 * m), odd = load8(seen + 2 * m + 8);
            seen_u = __builtin_shuffle(even, odd, int8x{0, 2, 4, 6, 8, 10, 12, 14});
            seen_v = __builtin_shuffle(even, odd, int8x{1, 3, 5, 7, 9, 11, 13, 15});
            double8 weight = load8(weights + m), g_weight, b[3], last, value;
            value = observe(t, fourth, x, weight, seen_u, seen_v, s, last, b, g_weight);
            totals += value;
            store8(g_weights + m, g_weight);
            transpose8(s);
            transpose8(s + 8);
            for (int i = 0; i < 8; i++) {
                double *into = mine + ROW * camera[i], *p = near + 4 * point[i];
                store8(into, load8(into) + s[i]);
                store8(into + 8, load8(into + 8) + s[8 + i]);
                into[16] += ((double *)&last)[i];
                p[0] += ((double *)&b[0])[i];
                p[1] += ((double *)&b[1])[i];
                p[2] += ((double *)&b[2])[i];
            }
        }
        total += sum8(totals);
        for (; m < end; m++) {
            const double *t = table + ROW * camera_of[m], *x = points + 3 * point_of[m];
            double s[16], last, b[3], *into = mine + ROW * camera_of[m], *p = near + 4 * point_of[m];
            total += observe(t, t[16], x, weights[m], seen[2 * m], seen[2 * m + 1], s, last, b, g_weights[m]);
            for (int i = 0; i < 16; i++) into[i] += s[i];
            into[16] += last;
            for (int i = 0; i < 3; i++) p[i] += b[i];
        }
#pragma omp barrier
#pragma omp for schedule(static) nowait
        for (int64_t p = 0; p < P; p++)
            for (int i = 0; i < 3; i++) {
                double s = 0.0;
                for (int k = 0; k < threads; k++) s += point_sums[(k * P + p) * 4 + i];
                g_points[3 * p + i] = s;
            }
    }
    for (int64_t c = 0; c < C; c++) {
        const double *camera = cameras + 11 * c;
        double s[17] = {}, *g = g_cameras + 11 * c;
        for (int k = 0; k < threads; k++)
            for (int i = 0; i < 17; i++) s[i] += camera_sums[(k * C + c) * ROW + i];
        double angle = sqrt(camera[0] * camera[0] + camera[1] * camera[1] + camera[2] * camera[2]), by = 1.0 / angle;
        double a[3] = {camera[0] * by, camera[1] * by, camera[2] * by}, cosine = cos(angle), sine = sin(angle);
        // R = cos + (1 - cos) a a' + sin [a]: by the angle and by the axis
        double trace = s[0] + s[4] + s[8], turn[3] = {s[7] - s[5], s[2] - s[6], s[3] - s[1]}, outer = 0.0, twist = 0.0;
        double by_axis[3];
        for (int i = 0; i < 3; i++) {
            double both = 0.0;
            for (int j = 0; j < 3; j++) {
                outer += a[i] * a[j] * s[3 * i + j];
                both += (s[3 * i + j] + s[3 * j + i]) * a[j];
            }
            twist += a[i] * turn[i];
            by_axis[i] = (1.0 - cosine) * both + sine * turn[i];
        }
        double by_angle = -sine * trace + sine * outer + cosine * twist;
        double along = a[0] * by_axis[0] + a[1] * by_axis[1] + a[2] * by_axis[2];
        for (int i = 0; i < 3; i++) g[i] = by_angle * a[i] + (by_axis[i] - along * a[i]) * by;
        memcpy(g + 3, s + 9, 8 * sizeof(double));
    }
    return total;
}
