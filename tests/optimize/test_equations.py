"""gt.optimize.root, root_scalar and fixed_point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt


def equations(p: Any, a: Any) -> Any:
    return [p["x"] + p["y"] - a, p["x"] * p["y"] - 2.0]


def solved(a: Any, **options: Any) -> Any:
    return gt.optimize.root(equations, {"x": 0.5, "y": 3.0}, args=(a,), **options).x


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "krylov", "df-sane"])
def test_root_over_a_structure(method: str) -> None:
    """Nested unknowns are solved for by methods with and without a Jacobian."""
    found = gt.optimize.root(equations, {"x": 0.9, "y": 2.2}, args=(3.0,), method=method)
    assert found.success
    np.testing.assert_allclose([found.x["x"], found.x["y"]], [1.0, 2.0], atol=1e-4)


def test_root_uses_the_exact_jacobian() -> None:
    """The Jacobian is asked of gradtape, not made by differences."""
    found = gt.optimize.root(equations, {"x": 0.5, "y": 3.0}, args=(3.0,))
    assert found.njev >= 1
    np.testing.assert_allclose(found.fun, 0.0, atol=1e-10)


def test_root_can_be_differentiated() -> None:
    """Solutions move as the closed form does: x = (a - sqrt(a^2 - 8)) / 2, to second order."""

    def closed(a: Any) -> Any:
        return (a - np.sqrt(a**2 - 8.0)) / 2.0

    for order in (gt.grad, lambda f: gt.grad(gt.grad(f))):
        np.testing.assert_allclose(order(lambda a: solved(a)["x"])(3.1), order(closed)(3.1), rtol=1e-7)
    np.testing.assert_allclose(gt.jvp(lambda a: solved(a)["x"], (3.1,), (2.0,))[1], 2.0 * gt.grad(closed)(3.1))


def test_root_in_a_compiled_function() -> None:
    """gt.jit takes the solver as one instruction, and is not traced again for other arguments."""
    compiled = gt.jit(gt.grad(lambda a: solved(a)["x"]))
    for a in (3.1, 3.5):
        np.testing.assert_allclose(compiled(np.float64(a)), gt.grad(lambda a: solved(a)["x"])(a), rtol=1e-8)
    assert compiled.stats.traces == 1


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: gt.optimize.root(lambda x: x[:1], [1.0, 2.0]), gt.ShapeError, "1 values for 2 unknowns"),
        (lambda: gt.optimize.root(lambda x: x, [1.0], method="newton"), gt.OperandError, "method='newton'"),
        (lambda: gt.optimize.root(lambda x: 1j * x, [1.0]), gt.DtypeError, "complex"),
        (lambda: gt.optimize.root(lambda x: x * np.nan, [1.0]), gt.NumericsError, "1 of 1 values"),
        (lambda: gt.optimize.root_scalar(lambda x: x), gt.OperandError, "neither x0 nor bracket"),
        (lambda: gt.optimize.root_scalar(lambda x: x, x0=[1.0, 2.0]), gt.ShapeError, "x0 has 2 elements"),
        (lambda: gt.optimize.root_scalar(lambda x: x**2 + 1.0, bracket=(0, 1)), gt.ShapeError, "change its sign"),
        (lambda: gt.optimize.fixed_point(lambda x: x[:1], [1.0, 2.0]), gt.ShapeError, "1 values for 2 unknowns"),
        (lambda: gt.optimize.root_scalar(lambda x: x, bracket=(0, 1, 2)), gt.OperandError, "bracket has 3 elements"),
        (
            lambda: gt.grad(lambda a: gt.optimize.root(lambda x: x - a, [1.0]).x[0])(1.0),
            gt.DetachError,
            "not one of its arguments",
        ),
        (lambda: gt.optimize.fixed_point(3.0, 1.0), gt.OperandError, "got a float"),
    ],
)
def test_mistakes_are_explained(call: Any, error: type[Exception], says: str) -> None:
    """What cannot be solved is refused in words."""
    with pytest.raises(error) as caught:
        call()
    assert says in " ".join(str(caught.value).split())


@pytest.mark.filterwarnings("ignore::gradtape.NumericsWarning")
def test_jacobian_that_is_not_finite() -> None:
    """An infinite slope is an error that names the unknown, after the warning about the operation that has it."""
    with pytest.raises(gt.NumericsError, match=r"x0\['q'\]"):
        gt.optimize.root(lambda p: [p["p"] - 1.0, np.sqrt(p["q"]) - 1.0], {"p": 0.0, "q": 0.0})


@pytest.mark.parametrize(
    "options",
    [
        {"x0": 1.0},
        {"x0": 1.0, "method": "halley"},
        {"x0": 1.0, "x1": 2.0},
        {"bracket": (0, 3)},
        {"bracket": (0, 3), "method": "bisect"},
    ],
    ids=repr,
)
def test_root_scalar_by_every_way(options: Any) -> None:
    """Newton's, Halley's, the secant and bracketing methods find the cube root, and it can be differentiated."""
    found = lambda a: gt.optimize.root_scalar(lambda x, a: x**3 - a, args=(a,), **options)
    assert found(5.0).success
    np.testing.assert_allclose(found(5.0).x, 5.0 ** (1 / 3), rtol=1e-8)
    np.testing.assert_allclose(gt.grad(lambda a: found(a).root)(5.0), 5.0 ** (-2 / 3) / 3.0, rtol=1e-7)


def test_root_scalar_in_a_batch() -> None:
    """vmap solves example by example."""
    cube_root = lambda a: gt.optimize.root_scalar(lambda x, a: x**3 - a, x0=1.0, args=(a,)).x
    np.testing.assert_allclose(gt.vmap(cube_root)(np.array([1.0, 8.0, 27.0])), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(gt.vmap(gt.grad(cube_root))(np.array([1.0, 8.0])), [1 / 3, 1 / 12])


def test_fixed_point_over_a_structure() -> None:
    """The iteration arrives at x = f(x) for nested unknowns, faster than by plain steps, and can be differentiated."""

    def step(x: Any, a: Any) -> Any:
        return {"u": np.cos(a * x["v"]), "v": 0.9 * np.sin(x["u"]) + a}

    start = {"u": np.zeros(3), "v": np.zeros(3)}
    a = np.array([0.1, 0.2, 0.3])
    found = gt.optimize.fixed_point(step, start, args=(a,))
    assert found.success
    assert found.nit < 15
    after = step(found.x, a)
    np.testing.assert_allclose(after["u"], found.x["u"], atol=1e-9)
    loss = lambda a: np.sum(gt.optimize.fixed_point(step, start, args=(a,), tol=1e-13).x["u"])
    differences = [(loss(a + 1e-5 * e) - loss(a - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(gt.grad(loss)(a), differences, atol=1e-7)


def test_fixed_point_that_is_not_reached() -> None:
    """An iteration that runs away says so, and how far it was."""
    found = gt.optimize.fixed_point(lambda x: x**2 + 1.0, 1.0, maxiter=30)
    assert not found.success
    assert "not arrived" in found.message
    with np.errstate(over="ignore"):
        assert not gt.optimize.fixed_point(lambda x: np.exp(x) * x + 10.0, np.array([3.0, 4.0])).success
