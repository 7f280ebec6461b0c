// The routines of BLAS and LAPACK that SciPy has; Python hands over their addresses. Matrices are stored by columns.
#pragma once
#include "anchor.h"

struct Routines {
    void (*dgemm)(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *, double *, double *, int *);
    void (*sgemm)(char *, char *, int *, int *, int *, float *, float *, int *, float *, int *, float *, float *, int *);
    void (*dgetrf)(int *, int *, double *, int *, int *, int *);
    void (*dgetrs)(char *, int *, int *, double *, int *, int *, double *, int *, int *);
    void (*dpotrf)(char *, int *, double *, int *, int *);
    void (*dlauum)(char *, int *, double *, int *, int *);
    void (*dpotrs)(char *, int *, int *, double *, int *, double *, int *, int *);
    void (*dtrmm)(char *, char *, char *, char *, int *, int *, double *, double *, int *, double *, int *);
    void (*set_num_threads)(int);
};
static Routines lapack;

// In the order of the structure.
EXPORT void anchor_routines(void *const *addresses) { memcpy(&lapack, addresses, sizeof lapack); }

static inline void dgemm(char ta, char tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b,
                         int ldb, double beta, double *c, int ldc) {
    lapack.dgemm(&ta, &tb, &m, &n, &k, &alpha, (double *)a, &lda, (double *)b, &ldb, &beta, c, &ldc);
}

static inline void sgemm(char ta, char tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                         int ldb, float beta, float *c, int ldc) {
    lapack.sgemm(&ta, &tb, &m, &n, &k, &alpha, (float *)a, &lda, (float *)b, &ldb, &beta, c, &ldc);
}
