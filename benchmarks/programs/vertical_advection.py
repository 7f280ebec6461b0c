"""Vertical advection of a weather model: a tridiagonal solve in each column, levels written one by one.

Implicit vertical transport in atmosphere and ocean models.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2, 3)
SMALL = (2, 3, 5)
PAPER = (24, 24, 40)


def initialise(size):
    ni, nj, nk = size
    rng = default_rng(18)
    stage = rng.random((ni, nj, nk))
    return stage, rng.random((ni + 1, nj, nk)), rng.random((ni, nj, nk)), rng.random((ni, nj, nk)), nk


def program(u_stage, wcon, u_pos, utens, K):
    beta, dtr = 0.25, 3.0 / 20.0
    ccol = np.zeros_like(u_stage)
    dcol = np.zeros_like(u_stage)
    result = np.empty_like(u_stage)

    for k in range(K):
        av = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        a = beta * av
        if k < K - 1:
            cv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
            c = beta * cv
        b = dtr * np.ones(u_stage.shape[:2])
        d = dtr * u_pos[:, :, k] + utens[:, :, k]
        if k > 0:
            b = b - a
            d = d - 0.75 * av * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        if k < K - 1:
            b = b - c
            d = d - 0.75 * cv * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        if k == 0:
            divided = 1.0 / (b + 1.0)
            ccol[:, :, k] = c * divided
            dcol[:, :, k] = d * divided
        else:
            divided = 1.0 / (b + 1.0 - ccol[:, :, k - 1] * a)
            if k < K - 1:
                ccol[:, :, k] = c * divided
            dcol[:, :, k] = (d - dcol[:, :, k - 1] * a) * divided

    result[:, :, K - 1] = dcol[:, :, K - 1]
    for k in range(K - 2, -1, -1):
        result[:, :, k] = dcol[:, :, k] - ccol[:, :, k] * result[:, :, k + 1]
    return np.sum((dtr * (result - u_pos)) ** 2)
