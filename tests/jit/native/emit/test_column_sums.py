"""Sums over rows: columns are added up from top to bottom, whatever the order in which memory is read."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as gt

SHAPES = [(1, 70), (3, 65), (130, 64), (5, 129), (300, 1), (2, 3, 97), (140, 1000)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_over_long_rows(shape, dtype, monkeypatch):
    """Two column sums of a computed array that is also stored are NumPy's, with all accesses to memory checked."""
    x = np.random.default_rng(7).normal(size=shape).astype(dtype)
    axes = tuple(range(len(shape) - 1))

    def both(x, row):
        y = np.exp(x * row)
        return y, y.sum(axis=axes), (y * x).max(axis=axes)

    row = np.linspace(0.1, 1.0, shape[-1]).astype(dtype)
    monkeypatch.setattr(gt.config, "check", "memory")
    found = gt.jit(both)(x, row)
    exact = np.exp(x.astype("f8") * row.astype("f8"))
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    for one, other in zip(found, (exact, exact.sum(axis=axes), (exact * x).max(axis=axes)), strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("columns", [64, 65, 200, 1030])
def test_bits_of_a_column_do_not_depend_on_the_others(columns):
    """A column has the same sum in a narrow array and in a wide one, fused with other sums or not."""
    x = np.random.default_rng(8).normal(size=(150, columns)).astype("f4")
    alone = gt.jit(lambda x: x.sum(axis=0))(np.ascontiguousarray(x[:, :3]))
    wide = gt.jit(lambda x: (x.sum(axis=0), np.sin(x).sum(axis=0), np.cos(x)))(x)[0]
    np.testing.assert_array_equal(wide[:3], alone)
