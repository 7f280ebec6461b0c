"""Gradient reversal for domain adaptation, as a custom gradient."""

import numpy as np

import gradtape as gt


@gt.custom_gradient
def reverse(x):
    return x * 1.0, lambda upstream: -upstream


w = gt.tensor([1.0, 2.0], requires_grad=True)
(reverse(w) ** 2).sum().backward()
assert np.allclose(w.grad.numpy(), [-2.0, -4.0])
