"""Preparation of programs for native code: what the rules of operations leave as calls of NumPy becomes native."""

import numpy as np
import pytest

import gradtape as gt

COUNTS = np.array([[1, 0, 2], [0, 1, 1], [3, 1, 0]])


def counted(x):
    return np.sum((COUNTS @ x) ** 2) + COUNTS[0] @ np.sin(x)


def counted_in_single_precision(x):
    return np.sum((COUNTS > 0) @ np.astype(x, np.float32)) + np.sum(x)


def unmoved(x):
    return np.sum(np.roll(x, 0) ** 3) + np.sum(np.roll(np.outer(x, x), (0, 3), axis=(0, 1)) ** 2)


def length(x):
    return np.linalg.norm(x) * np.linalg.norm(np.outer(x, x).T[::2])


@pytest.mark.parametrize("function", [counted, counted_in_single_precision, unmoved, length])
def test_common_operations_are_native(function):
    """Products of integers and floats, rolls by nothing and norms of whole arrays are native code."""
    x = np.array([0.1, 0.2, 0.3])
    compiled = gt.jit(gt.value_and_grad(function))
    found, expected = compiled(x), gt.value_and_grad(function)(x)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6 if "single" in function.__name__ else 1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6 if "single" in function.__name__ else 1e-13)
    assert "NumPy kernel" not in compiled.stage("scheduled")
