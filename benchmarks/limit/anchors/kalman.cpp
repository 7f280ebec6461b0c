// Matrices of known sizes in registers. The predicted state, the gain and the inverse of each step are kept.
#include "anchor.h"

template <int R, int C> struct Matrix {
    double a[R][C];
};

template <int R, int C> static inline Matrix<R, C> operator+(const Matrix<R, C> &x, const Matrix<R, C> &y) {
    Matrix<R, C> z;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) z.a[i][j] = x.a[i][j] + y.a[i][j];
    return z;
}
template <int R, int C> static inline Matrix<R, C> operator-(const Matrix<R, C> &x, const Matrix<R, C> &y) {
    Matrix<R, C> z;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) z.a[i][j] = x.a[i][j] - y.a[i][j];
    return z;
}
template <int R, int M, int C> static inline Matrix<R, C> operator*(const Matrix<R, M> &x, const Matrix<M, C> &y) {
    Matrix<R, C> z = {};
    for (int i = 0; i < R; i++)
        for (int k = 0; k < M; k++)
            for (int j = 0; j < C; j++) z.a[i][j] += x.a[i][k] * y.a[k][j];
    return z;
}
template <int R, int C> static inline Matrix<C, R> transposed(const Matrix<R, C> &x) {
    Matrix<C, R> z;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) z.a[j][i] = x.a[i][j];
    return z;
}
template <int R, int C> static inline Matrix<R, C> times(double s, const Matrix<R, C> &x) {
    Matrix<R, C> z;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) z.a[i][j] = s * x.a[i][j];
    return z;
}

typedef Matrix<4, 4> M44;
typedef Matrix<4, 2> M42;
typedef Matrix<2, 4> M24;
typedef Matrix<2, 2> M22;
typedef Matrix<4, 1> V4;
typedef Matrix<2, 1> V2;

struct Kept {
    V4 before;         // the state before the prediction
    M44 half, covariance;  // the covariance before the prediction, and after it
    M22 inverse;
    V2 innovation;
};
static Buffer<Kept> kept_of;

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    M44 F, Q;
    M22 R;
    M24 H;
    memcpy(&F, in[0], sizeof F);
    memcpy(&Q, in[1], sizeof Q);
    memcpy(&R, in[2], sizeof R);
    memcpy(&H, in[3], sizeof H);
    const V2 *observed = (const V2 *)in[4];
    int64_t steps = sizes[8];
    Kept *kept = kept_of.get(steps);
    const M44 Ft = transposed(F);
    const M42 Ht = transposed(H);
    V4 x = {};
    M44 P = {};
    for (int i = 0; i < 4; i++) P.a[i][i] = 1.0;
    double total = 0.0, determinants = 1.0;
    for (int64_t t = 0; t < steps; t++) {
        kept[t].before = x;
        kept[t].half = P;
        x = F * x;
        P = F * P * Ft + Q;
        M42 PHt = P * Ht;
        M24 HP = H * P;
        M22 S = H * PHt + R, inverse;
        V2 innovation = observed[t] - H * x;
        double determinant = S.a[0][0] * S.a[1][1] - S.a[0][1] * S.a[1][0], by = 1.0 / determinant;
        inverse = {{{S.a[1][1] * by, -S.a[0][1] * by}, {-S.a[1][0] * by, S.a[0][0] * by}}};
        kept[t].covariance = P;
        kept[t].inverse = inverse;
        kept[t].innovation = innovation;
        V2 z = inverse * innovation;
        total += innovation.a[0][0] * z.a[0][0] + innovation.a[1][0] * z.a[1][0];
        determinants *= determinant;  // their logarithms are summed in groups
        if ((t & 15) == 15) {
            total += log(determinants);
            determinants = 1.0;
        }
        x = x + PHt * z;
        P = P - PHt * (inverse * HP);
    }
    total += log(determinants);
    // backward; gx and gP are the adjoints of the state and of the covariance after each step
    V4 gx = {};
    M44 gP = {}, gF = {}, gQ = {};
    M22 gR = {};
    for (int64_t t = steps; t-- > 0;) {
        const Kept &k = kept[t];
        const M44 &Pt = k.covariance;
        const M22 It = transposed(k.inverse);
        M42 PHt = Pt * Ht;
        M24 HP = H * Pt;
        V2 z = k.inverse * k.innovation, zt = It * k.innovation;
        M42 gPHt = gx * transposed(z);                // x + PHt z
        V2 gz = transposed(PHt) * gx;
        M24 W = k.inverse * HP;                        // P - PHt W
        gPHt = gPHt - gP * transposed(W);
        M24 gW = times(-1.0, transposed(PHt) * gP);
        M24 gHP = It * gW;
        // inverse: from W, from z = inverse innovation (state), from the quadratic form -0.5 i' inverse i
        M22 gI = gW * transposed(HP) + gz * transposed(k.innovation) -
                 times(0.5, k.innovation * transposed(k.innovation));
        V2 gi = It * gz - times(0.5, z + zt);
        M22 gS = times(-1.0, It * gI * It) - times(0.5, It);  // and log det
        gPHt = gPHt + Ht * gS;
        M44 gp = gP + gPHt * H + Ht * gHP;
        gR = gR + gS;
        gQ = gQ + gp;
        gx = gx - Ht * gi;
        // x = F before, P = F half F' + Q
        gF = gF + gx * transposed(k.before) + gp * (F * transposed(k.half)) + transposed(gp) * (F * k.half);
        gx = Ft * gx;
        gP = Ft * gp * F;
    }
    memcpy(out[0], &gF, sizeof gF);
    memcpy(out[1], &gQ, sizeof gQ);
    memcpy(out[2], &gR, sizeof gR);
    return -0.5 * total;
}
