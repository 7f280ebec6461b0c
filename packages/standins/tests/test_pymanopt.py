"""pymanopt, unmodified, solves problems on manifolds with the stand-in as its autograd backend."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtape_standins import standing_in


@pytest.fixture(scope="module")
def pymanopt() -> Iterator[Any]:
    """The package, imported where `import autograd` gives the stand-in."""
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "pymanopt"}
    with standing_in("autograd"):
        package = importlib.import_module("pymanopt")
        for part in ("function", "manifolds", "optimizers"):
            importlib.import_module(f"pymanopt.{part}")
        yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "pymanopt"]:
        del sys.modules[name]
    sys.modules.update(before)


@pytest.fixture
def random() -> np.random.RandomState:
    """Numbers that are the same in every run; pymanopt draws its starting points from NumPy's own generator."""
    np.random.seed(3)
    return np.random.RandomState(5)


def anp() -> Any:
    """`autograd.numpy`, as a cost function imports it."""
    return importlib.import_module("autograd.numpy")


def test_backend_is_the_stand_in(pymanopt: Any) -> None:
    """pymanopt has found the stand-in under the name of autograd."""
    backend = importlib.import_module("pymanopt.autodiff.backends._autograd")
    assert backend.autograd.__name__ == "gradtape_standins.autograd"


def test_dominant_eigenvector(pymanopt: Any, random: np.random.RandomState) -> None:
    """The Rayleigh quotient on the sphere is largest at the first eigenvector."""
    matrix = random.normal(size=(12, 12))
    matrix = matrix + matrix.T
    manifold = pymanopt.manifolds.Sphere(12)

    @pymanopt.function.autograd(manifold)
    def cost(point: Any) -> Any:
        return -point @ matrix @ point

    optimizer = pymanopt.optimizers.SteepestDescent(verbosity=0)
    found = optimizer.run(pymanopt.Problem(manifold, cost)).point
    expected = np.linalg.eigh(matrix)[1][:, -1]
    assert abs(found @ expected) == pytest.approx(1.0, abs=1e-8)


def test_closest_unit_columns(pymanopt: Any, random: np.random.RandomState) -> None:
    """On the oblique manifold the closest matrix with unit columns is the one with normalised columns."""
    np_ = anp()
    matrix = random.normal(size=(5, 8))
    manifold = pymanopt.manifolds.Oblique(5, 8)

    @pymanopt.function.autograd(manifold)
    def cost(point: Any) -> Any:
        return 0.5 * np_.sum((point - matrix) ** 2)

    optimizer = pymanopt.optimizers.ConjugateGradient(verbosity=0)
    found = optimizer.run(pymanopt.Problem(manifold, cost)).point
    np.testing.assert_allclose(found, matrix / np.linalg.norm(matrix, axis=0), atol=1e-5)


def test_low_rank_approximation_over_a_product_of_arguments(pymanopt: Any, random: np.random.RandomState) -> None:
    """With singular vectors and values as three arguments, conjugate gradients find the truncated SVD."""
    np_ = anp()
    matrix = random.normal(size=(6, 5))
    manifold = pymanopt.manifolds.FixedRankEmbedded(6, 5, 2)

    @pymanopt.function.autograd(manifold)
    def cost(u: Any, s: Any, vt: Any) -> Any:
        return np_.linalg.norm(u @ np_.diag(s) @ vt - matrix) ** 2

    optimizer = pymanopt.optimizers.ConjugateGradient(verbosity=0, max_iterations=500)
    u, s, vt = optimizer.run(pymanopt.Problem(manifold, cost)).point
    left, values, right = np.linalg.svd(matrix)
    np.testing.assert_allclose(u @ np.diag(s) @ vt, left[:, :2] * values[:2] @ right[:2], atol=1e-4)


def test_regression_with_trust_regions(pymanopt: Any, random: np.random.RandomState) -> None:
    """The Hessian that the backend derives leads trust regions to the least squares solution."""
    np_ = anp()
    samples, targets = random.normal(size=(40, 3)), random.normal(size=40)
    manifold = pymanopt.manifolds.Euclidean(3)

    @pymanopt.function.autograd(manifold)
    def cost(weights: Any) -> Any:
        return np_.sum((samples @ weights - targets) ** 2)

    optimizer = pymanopt.optimizers.TrustRegions(verbosity=0)
    found = optimizer.run(pymanopt.Problem(manifold, cost)).point
    np.testing.assert_allclose(found, np.linalg.lstsq(samples, targets)[0], atol=1e-8)


def test_complex_subspace(pymanopt: Any, random: np.random.RandomState) -> None:
    """Complex gradients and Hessians have autograd's sign: the dominant complex subspace is found."""
    np_ = anp()
    matrix = random.normal(size=(6, 6)) + 1j * random.normal(size=(6, 6))
    matrix = matrix + matrix.conj().T
    manifold = pymanopt.manifolds.ComplexGrassmann(6, 2)

    @pymanopt.function.autograd(manifold)
    def cost(basis: Any) -> Any:
        return -np_.real(np_.trace(np_.conj(basis.T) @ matrix @ basis))

    optimizer = pymanopt.optimizers.TrustRegions(verbosity=0)
    found = optimizer.run(pymanopt.Problem(manifold, cost)).point
    expected = np.linalg.eigh(matrix)[1][:, -2:]
    np.testing.assert_allclose(found @ found.conj().T, expected @ expected.conj().T, atol=1e-6)
