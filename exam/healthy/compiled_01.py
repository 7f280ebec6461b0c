"""Infinities that are meant, in and out of compiled functions: nothing is wrong with the gradients."""

import numpy as np

import gradtape as gt


@gt.jit
def bounds(x):
    return np.where(x > 0, x, np.inf), np.log(np.maximum(x, 0.0))


@gt.jit
@gt.value_and_grad
def loss(w, mask):
    scores = np.where(mask, w, -np.inf)
    return -np.sum(np.where(mask, gt.softmax(scores), 0.0) ** 2)


with np.errstate(divide="ignore"):
    upper, lower = bounds(np.array([1.0, -1.0]))
value, g = loss(np.array([1.0, 2.0, 3.0]), np.array([True, True, False]))
