"""Soft dynamic time warping: a table is filled in a loop, with a soft minimum."""

import numpy as np

import gradtape as gt

a, b = np.sin(np.arange(6.0)), np.sin(np.arange(7.0) + 0.3)


def soft_dtw(shift):
    cost = (a[:, None] + shift - b) ** 2
    table = {(-1, -1): 0.0}
    for i in range(6):
        for j in range(7):
            before = [table[k] for k in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if k in table]
            terms = [-10.0 * v for v in before]
            top = terms[0]
            for t in terms[1:]:
                top = np.logaddexp(top, t)
            table[i, j] = cost[i, j] - top / 10.0
    return table[5, 6]


assert gt.gradcheck(soft_dtw, 0.2)
