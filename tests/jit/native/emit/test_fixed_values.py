"""Numbers that are the same for a whole nest: heavy functions of them are computed once, before its loops."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as gt


def scaled(x, count):
    scale = (1.0 / np.sqrt(1.0 - 0.999**count)).astype(x.dtype)
    y = x * scale + np.exp(-count).astype(x.dtype)
    return y, np.all(np.isfinite(y)), np.sum(y * y, axis=0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 1), (3, 65), (1, 130), (5, 4, 70)], ids=str)
def test_functions_of_numbers_in_nests(shape, dtype, monkeypatch):
    """Arrays scaled by powers of a number are NumPy's, with all accesses to memory checked."""
    monkeypatch.setattr(gt.config, "check", "memory")
    x, count = np.random.default_rng(2).normal(size=shape).astype(dtype), np.float64(7.0)
    found, expected = gt.jit(scaled)(x, count), scaled(x, count)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6 if dtype == "float32" else 1e-14)


def test_functions_of_numbers_are_computed_before_the_loops():
    """A power of a number does not narrow the vectors of the loop, nor is it computed in it."""
    x = np.ones((300, 200), np.float32)
    compiled = gt.jit(lambda x, count: np.all(x * (0.999**count).astype(np.float32) < 2))
    compiled(x, np.float64(3.0))
    nest = next(part for part in compiled.stage("llvm").split("define ") if "<32 x float>" in part)
    before = nest.split("head:")[0]
    assert "llvm.fma.v32f64" in before or "fmul <32 x double>" in before
