"""Horizontal diffusion of a weather model: a Laplacian, and fluxes that are limited by their sign.

Compound stencils with a condition in each cell.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (3, 4, 2)
PAPER = (60, 60, 20)


def initialise(size):
    ni, nj, nk = size
    rng = default_rng(19)
    return rng.random((ni + 4, nj + 4, nk)), rng.random((ni, nj, nk))


def program(field, coefficient):
    ni, nj, _ = coefficient.shape
    lap = 4.0 * field[1 : ni + 3, 1 : nj + 3, :] - (
        field[2 : ni + 4, 1 : nj + 3, :]
        + field[0 : ni + 2, 1 : nj + 3, :]
        + field[1 : ni + 3, 2 : nj + 4, :]
        + field[1 : ni + 3, 0 : nj + 2, :]
    )
    res = lap[1:, 1 : nj + 1, :] - lap[:-1, 1 : nj + 1, :]
    flx = np.where(res * (field[2 : ni + 3, 2 : nj + 2, :] - field[1 : ni + 2, 2 : nj + 2, :]) > 0, 0.0, res)
    res = lap[1 : ni + 1, 1:, :] - lap[1 : ni + 1, :-1, :]
    fly = np.where(res * (field[2 : ni + 2, 2 : nj + 3, :] - field[2 : ni + 2, 1 : nj + 2, :]) > 0, 0.0, res)
    out = np.empty(coefficient.shape)
    out[:, :, :] = field[2 : ni + 2, 2 : nj + 2, :] - coefficient * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )
    return np.sum(out * out)
