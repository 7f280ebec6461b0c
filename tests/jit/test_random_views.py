"""Some of the random programs of `random_views`, which runs for as long as one likes."""

import numpy as np
import pytest

import gradtape as gt

from .random_views import check


@pytest.mark.parametrize("start", range(0, 48, 8))
def test_compositions_of_views_are_compiled_to_what_they_are(start):
    """Random compositions of views, reductions, sorts and gathers have the derivatives that eager code has."""
    for seed in range(start, start + 8):
        check(seed)


@pytest.mark.parametrize("dtype", [">f8", ">f4", "<f4", "<f8"])
def test_a_compiled_gradient_has_the_byte_order_of_its_source(dtype):
    """The dtype of a gradient is the source's, eager and compiled, whatever the byte order."""
    x = np.linspace(0.0, 1.0, 5).astype(dtype)
    gradient = gt.grad(lambda x: np.sum(np.sin(x)))
    assert gradient(x).dtype.str == gt.jit(gradient)(x).dtype.str == np.dtype(dtype).str
