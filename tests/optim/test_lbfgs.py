"""L-BFGS: a line search that meets places without a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt


@pytest.mark.parametrize("transform", [lambda function: function, gt.jit], ids=["eager", "jit"])
def test_a_line_search_goes_back_from_nan(transform: Any) -> None:
    """A place without a finite value counts as infinitely high, and nothing is said about it."""
    function = transform(gt.value_and_grad(lambda x: np.sum(x) - np.sum(np.log(x - 1.0))))
    optimiser = gt.optim.LBFGS(line_search_fn="strong_wolfe")
    params = np.array([1.05, 40.0])
    state = optimiser.init(params)
    with gt.explain.configure(GT4="note"):
        for _ in range(8):
            _, params, state = optimiser.minimise_step(function, state, params)
    np.testing.assert_allclose(params, 2.0, atol=1e-3)
