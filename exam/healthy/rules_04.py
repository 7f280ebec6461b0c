"""An implicit function: a fixed point by iteration, its derivative by a custom rule."""

import numpy as np

import gradtape as gt


@gt.custom_vjp
def fixed_point(a):
    x = np.ones_like(a)
    for _ in range(60):
        x = np.cos(a * x)
    return x


def backward(saved, g):
    a, x = saved
    slope = -np.sin(a * x)
    return (g * slope * x / (1.0 - slope * a),)


def forward(a):
    x = fixed_point(a)
    return x, (a, x)


fixed_point.defvjp(forward, backward)
a = np.array([0.5, 0.8])
numeric = (fixed_point(a + 1e-6) - fixed_point(a - 1e-6)) / 2e-6
assert np.allclose(gt.grad(lambda a: np.sum(fixed_point(a)))(a), numeric)
