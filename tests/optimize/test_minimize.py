"""gt.optimize.minimize: nested unknowns, bounds, constraints, what it says, and derivatives of what it finds."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import optimize, sparse

import gradtape as gt
from gradtape.optimize import minimising
from gradtape.optimize.progress import SolverProgress


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


TARGET = np.arange(6.0).reshape(2, 3)


def distance(p: Any) -> Any:
    return np.sum((p["w"] - TARGET) ** 2) + (p["b"] - 1.0) ** 2


def start() -> dict[str, Any]:
    return {"w": np.zeros((2, 3)), "b": 0.0}


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Line:
    slope: Any
    offset: Any


SLOW = {"Nelder-Mead": 1e-3, "Powell": 1e-3, "COBYQA": 1e-3, "SLSQP": 1e-3, "TNC": 1e-3, "L-BFGS-B": 1e-3}


@pytest.mark.parametrize("method", [m for m in minimising.METHODS.values() if m not in ("COBYLA", "dogleg")])
def test_every_method_finds_the_minimum(method: str) -> None:
    """Each of SciPy's methods gets the derivatives it wants and arrives."""
    found = gt.optimize.minimize(rosenbrock, [1.3, 0.7, 0.8], method=method, tol=1e-7)
    assert found.method == method
    np.testing.assert_allclose(found.x, 1.0, atol=SLOW.get(method, 1e-4))


def test_dogleg_gets_a_matrix() -> None:
    """The method that wants a positive definite Hessian finds the minimum of a convex function."""
    found = gt.optimize.minimize(lambda x: np.sum(np.cosh(x - 1.0)), np.zeros(3), method="dogleg")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_exact_derivatives_need_fewer_evaluations() -> None:
    """With gradients filled in, the function is evaluated far less often than SciPy does by differences."""
    exact = gt.optimize.minimize(rosenbrock, np.full(10, 0.5), method="BFGS")
    guessed = optimize.minimize(rosenbrock, np.full(10, 0.5), method="BFGS")
    assert exact.nfev < guessed.nfev / 5


@pytest.mark.parametrize(
    "x0",
    [
        {"a": np.zeros(2), "b": [0.0, 0.0]},
        [np.zeros(2), {"c": 0.0}],
        Point(np.zeros(2), 0.0),
        Line(np.zeros((2, 1)), 0.0),
        np.zeros((2, 2)),
        0.5,
        (1, 2),
    ],
    ids=repr,
)
def test_x_has_the_structure_of_the_start(x0: Any) -> None:
    """The solution has the nesting, shapes and types of x0; lists of numbers are arrays, as in SciPy."""

    def total(p: Any) -> Any:
        parts = p if isinstance(p, dict | list | Point | Line) else [p]
        if isinstance(parts, dict):
            parts = list(parts.values())
        if isinstance(parts, Line):
            parts = [parts.slope, parts.offset]
        return sum(total(part) if isinstance(part, dict | list) else np.sum((part - 1.0) ** 2) for part in parts)

    found = gt.optimize.minimize(total, x0)
    assert found.success
    if isinstance(x0, Line | Point | dict | list):
        assert type(found.x) is type(x0)
    leaves = gt.core.pytree.leaves(found.x)
    for leaf in leaves:
        np.testing.assert_allclose(leaf, 1.0, atol=1e-5)
    if isinstance(x0, dict):
        assert found.x["b"].shape == (2,)
    if isinstance(x0, float):
        assert np.shape(found.x) == ()


def test_dtypes_are_kept() -> None:
    """float32 leaves are float32 in the function and in the result; the others stay what they are."""
    seen = set()

    def loss(p: Any) -> Any:
        seen.add((p["a"].dtype, p["b"].dtype))
        return np.sum((p["a"] - 1.0) ** 2) + (p["b"] - 2.0) ** 2

    found = gt.optimize.minimize(loss, {"a": np.zeros(2, np.float32), "b": 0.0})
    assert seen == {(np.dtype(np.float32), np.dtype(float))}
    assert found.x["a"].dtype == np.float32
    assert found.jac["a"].dtype == np.float32


def test_start_is_not_changed() -> None:
    """The arrays of x0 are as they were, and the solution shares no memory with them."""
    x0 = {"w": np.zeros((2, 3)), "b": np.zeros(())}
    found = gt.optimize.minimize(distance, x0)
    assert not x0["w"].any()
    assert not np.shares_memory(found.x["w"], x0["w"])


def test_jit_gives_the_same() -> None:
    """Compiled or not, the same minimum is found."""
    plain = gt.optimize.minimize(distance, start())
    compiled = gt.optimize.minimize(distance, start(), jit=True)
    np.testing.assert_allclose(compiled.x["w"], plain.x["w"], atol=1e-6)


@pytest.mark.parametrize("hess", ["dense", "sparse", "products"])
def test_second_derivatives_as_asked_for(hess: str) -> None:
    """trust-constr takes the Hessian as products, as a matrix, or as a sparse matrix."""
    found = gt.optimize.minimize(rosenbrock, np.full(6, 0.8), method="trust-constr", hess=hess)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_many_unknowns_keep_no_matrix() -> None:
    """Without a method, a problem with many unknowns is not given a dense matrix of them."""
    found = gt.optimize.minimize(lambda x: np.sum((x - 2.0) ** 2), np.zeros(minimising.MANY + 1))
    assert found.method == "L-BFGS-B"
    np.testing.assert_allclose(found.x, 2.0, atol=1e-4)


# -- bounds


@pytest.mark.parametrize(
    ("bounds", "highest", "b"),
    [
        ((None, 2.0), 2.0, 1.0),
        (({"w": 0.0, "b": -1.0}, {"w": 3.0, "b": 0.5}), 3.0, 0.5),
        ({"w": (0.0, 3.0)}, 3.0, 1.0),
        ({"w": (None, np.full((2, 3), 4.0)), "b": (0.0, 0.25)}, 4.0, 0.25),
        (optimize.Bounds(-np.inf, 2.0), 2.0, 1.0),
    ],
)
def test_bounds_in_every_form(bounds: Any, highest: float, b: float) -> None:
    """Numbers, structures of numbers, structures of pairs and SciPy's Bounds hold the unknowns."""
    found = gt.optimize.minimize(distance, start(), bounds=bounds)
    np.testing.assert_allclose(found.x["w"], np.minimum(TARGET, highest), atol=1e-5)
    np.testing.assert_allclose(found.x["b"], b, atol=1e-5)


def test_bounds_of_lists_and_of_parts() -> None:
    """A list of arrays has bounds in a list, and one number or None for a whole branch."""
    aim = lambda p: np.sum((p[0] - 5.0) ** 2) + np.sum((p[1]["c"] - 5.0) ** 2)
    found = gt.optimize.minimize(aim, [np.zeros(2), {"c": 0.0}], bounds=(None, [np.array([1.0, 2.0]), {"c": 3.0}])).x
    np.testing.assert_allclose([*found[0], found[1]["c"]], [1.0, 2.0, 3.0], atol=1e-5)
    found = gt.optimize.minimize(aim, [np.zeros(2), {"c": 0.0}], bounds=([None, 0.0], 4.0)).x
    np.testing.assert_allclose([*found[0], found[1]["c"]], 4.0, atol=1e-5)


def test_a_vector_within_the_structure_may_have_a_pair_for_each_element() -> None:
    """A list of pairs bounds the elements of a vector wherever it stands; a tuple is the two sides of all."""
    aim = lambda p: np.sum((p["v"] - 5.0) ** 2)
    for bounds in ([(0.0, 1.0), (None, 2.0)], (0.0, [1.0, 2.0])):
        found = gt.optimize.minimize(aim, {"v": np.zeros(2)}, bounds={"v": bounds}).x
        np.testing.assert_allclose(found["v"], [1.0, 2.0], atol=1e-5)


def test_a_function_with_its_gradient_is_one_too_many() -> None:
    """What SciPy's `jac=True` takes is refused with the reason, because gradients are found by gt.optimize itself."""
    for method in ("BFGS", "Nelder-Mead"):
        with pytest.raises(gt.OperandError, match="returned a tuple of 2") as caught:
            gt.optimize.minimize(gt.value_and_grad(lambda x: np.sum(x**2)), np.ones(2), method=method)
        assert "gt.value_and_grad" in str(caught.value)


def test_lists_of_different_lengths_are_a_structure() -> None:
    """What is no array is a nesting of arrays."""
    found = gt.optimize.minimize(lambda p: np.sum((p[0] - 1.0) ** 2) + np.sum((p[1] - 2.0) ** 2), [[0.0], [0.0, 0.0]])
    np.testing.assert_allclose(found.x[1], [2.0, 2.0], atol=1e-5)


def test_pairs_for_a_vector() -> None:
    """SciPy's list of pairs works for a vector of unknowns."""
    found = gt.optimize.minimize(lambda x: np.sum((x - 5.0) ** 2), np.zeros(3), bounds=[(0, 1), (None, 2), (0, None)])
    np.testing.assert_allclose(found.x, [1.0, 2.0, 5.0], atol=1e-5)


@pytest.mark.parametrize(
    "bounds", [[(0, 1), (0, 2)], np.array([[0, 1], [0, 2]]), (np.zeros(2), np.array([1.0, 2.0])), (0, np.array([1, 2]))]
)
def test_two_unknowns_have_pairs_or_two_arrays(bounds: Any) -> None:
    """Two pairs are SciPy's form for two unknowns; two arrays are the lower and the upper bounds."""
    found = gt.optimize.minimize(lambda x: np.sum((x - 5.0) ** 2), np.zeros(2), bounds=bounds)
    np.testing.assert_allclose(found.x, [1.0, 2.0], atol=1e-5)


@pytest.mark.parametrize(
    ("bounds", "error", "says"),
    [
        ((1.0, 0.0), gt.ShapeError, "x0['w'] (6 of 6 elements), x0['b']"),
        ({"b": (2.0, 3.0)}, gt.ShapeError, "outside of the bounds: x0['b']"),
        ({"w": (0.0, np.nan)}, gt.ShapeError, "x0['w']"),
        ({"c": (0.0, 1.0)}, gt.StructureError, "a key 'c'; x0 has ['w', 'b']"),
        ({"w": 3.0}, gt.OperandError, "the bounds of x0['w'] are a float"),
        (({"w": np.zeros(4)}, None), gt.ShapeError, "x0['w'] have shape (4,); x0['w'] has shape (2, 3)"),
        (([1.0], None), gt.StructureError, "the lower bounds are a list"),
        (3.0, gt.OperandError, "was given a float"),
    ],
)
def test_bounds_that_cannot_be(bounds: Any, error: type[Exception], says: str) -> None:
    """Bounds that cross, leave the start out or do not fit are refused, and the leaf is named."""
    with pytest.raises(error) as caught:
        gt.optimize.minimize(distance, start(), bounds=bounds)
    assert says in str(caught.value).replace("\n", " ")


# -- constraints


def total(p: Any) -> Any:
    return np.sum(p["a"] ** 2) + p["b"] ** 2


CONSTRAINTS: dict[str, Any] = {
    "dict": {"type": "eq", "fun": lambda p: p["a"].sum() + p["b"] - 1.0},
    "nonlinear": optimize.NonlinearConstraint(lambda p: p["a"].sum() + p["b"], 1.0, 1.0),
    "linear": optimize.LinearConstraint(np.ones((1, 3)), 1.0, 1.0),
    "sparse": optimize.LinearConstraint(sparse.csr_array(np.ones((1, 3))), 1.0, 1.0),
    "list": [{"type": "ineq", "fun": lambda p: [p["a"].sum() + p["b"] - 1.0]}],
}


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize("form", CONSTRAINTS)
def test_constraints_in_every_form(form: str, method: str) -> None:
    """Dictionaries, NonlinearConstraint and LinearConstraint hold for nested unknowns, with no derivatives given."""
    found = gt.optimize.minimize(
        total, {"a": np.ones(2), "b": 2.0}, method=method, constraints=CONSTRAINTS[form], tol=1e-9
    )
    np.testing.assert_allclose([*found.x["a"], found.x["b"]], 1.0 / 3.0, atol=1e-4)


def test_a_sparse_matrix_for_methods_that_take_dense_ones() -> None:
    """A LinearConstraint with a sparse matrix holds with a method that knows no sparse matrices.

    It is an inequality, because COBYLA takes no equality in SciPy 1.15.
    """
    above = optimize.LinearConstraint(sparse.csr_array(np.ones((1, 3))), 1.0, np.inf)
    found = gt.optimize.minimize(total, {"a": np.ones(2), "b": 2.0}, "COBYLA", constraints=above)
    np.testing.assert_allclose([*found.x["a"], found.x["b"]], 1.0 / 3.0, atol=1e-3)


def test_constraints_get_exact_derivatives() -> None:
    """Jacobian and curvature of a nonlinear constraint are those of the function: the circle is met exactly."""
    circle = optimize.NonlinearConstraint(lambda p: p["x"] ** 2 + p["y"] ** 2, 1.0, 1.0)
    found = gt.optimize.minimize(
        lambda p: p["x"] + 2.0 * p["y"], {"x": -0.5, "y": -0.5}, method="trust-constr", constraints=circle, tol=1e-10
    )
    np.testing.assert_allclose([found.x["x"], found.x["y"]], -np.array([1.0, 2.0]) / np.sqrt(5.0), atol=1e-6)
    assert found.constr_nfev[0] < 60


def test_large_sparse_constraints() -> None:
    """A constraint with a large Jacobian that is mostly zeros is given to trust-constr as a sparse matrix."""
    chain = optimize.NonlinearConstraint(lambda x: x[1:] - x[:-1] ** 2, 0.0, 0.0)
    found = gt.optimize.minimize(
        lambda x: np.sum((x - 0.9) ** 2), np.full(110, 0.95), method="trust-constr", constraints=chain
    )
    assert found.jac[0].nnz == 2 * 109
    np.testing.assert_allclose(found.x[1:], found.x[:-1] ** 2, atol=1e-6)


@pytest.mark.parametrize(
    ("constraints", "error", "says"),
    [
        (lambda p: p["b"], gt.OperandError, "was given a function"),
        ([{"type": "equal", "fun": lambda p: p["b"]}], gt.OperandError, '"eq" or "ineq"'),
        (optimize.LinearConstraint(np.ones((1, 4)), 0, 1), gt.ShapeError, "4 columns; x0 has 3 elements"),
        (optimize.NonlinearConstraint(lambda p: p["a"], [0, 1, 2], 3), gt.ShapeError, "has 2 values, and its limits 3"),
        ({"type": "eq", "fun": lambda p: None}, gt.OperandError, "returned None"),
        ({"type": "eq", "fun": lambda p: np.nan * p["b"]}, gt.NumericsError, "NaN"),
    ],
)
def test_constraints_that_cannot_be(constraints: Any, error: type[Exception], says: str) -> None:
    """What is not a constraint, or does not fit, is refused with the forms that are accepted."""
    with pytest.raises(error) as caught:
        gt.optimize.minimize(total, {"a": np.ones(2), "b": 2.0}, constraints=constraints)
    assert says in " ".join(str(caught.value).split())


# -- mistakes


def sqrt_trap(p: Any) -> Any:
    return np.sum(np.sqrt(p["w"])) + p["b"] ** 2


@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (lambda p: np.sum(p["w"]), gt.UntrackedError, "does not depend on x0['b']"),
        (lambda p: p["w"], gt.ShapeError, "returned shape (2, 3)"),
        (lambda p: None, gt.OperandError, "returned None"),
        (lambda p: float(np.sum(p["w"].numpy())) + p["b"], gt.UntrackedError, "x0['w']"),
        (lambda p: np.nan * np.sum(p["w"]) + p["b"], gt.NumericsError, "is nan at x0"),
        ("loss", gt.OperandError, "a function is wanted; got a str"),
    ],
)
def test_objectives_that_cannot_be_minimised(function: Any, error: type[Exception], says: str) -> None:
    """No gradient, several numbers, None or NaN: an error that names the leaf and the function."""
    with pytest.raises(error) as caught:
        gt.optimize.minimize(function, start())
    assert says in " ".join(str(caught.value).split())


def test_a_gradient_that_is_not_finite() -> None:
    """A finite value with an infinite gradient is an error that names the leaf."""
    with pytest.warns(gt.NumericsWarning), pytest.raises(gt.NumericsError) as caught:
        gt.optimize.minimize(sqrt_trap, start())
    assert "x0['w'] (6 of 6 elements)" in " ".join(str(caught.value).split())


def test_a_line_search_may_leave_the_domain() -> None:
    """Points where the value is infinite or NaN are turned away from, as SciPy does it."""
    with np.errstate(all="ignore"):
        found = gt.optimize.minimize(lambda x: np.sum(x - np.log(x)), np.array([0.01, 30.0]), method="BFGS")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


@pytest.mark.parametrize(
    ("x0", "error", "says"),
    [
        ({"w": "text"}, gt.OperandError, "x0['w'] is a str"),
        ({"w": None}, gt.OperandError, "x0['w'] is None"),
        ({"w": np.ones(2), "b": 1j}, gt.DtypeError, "x0['b'] is complex"),
        ({"w": []}, gt.ShapeError, "holds no numbers"),
        (np.zeros(0), gt.ShapeError, "holds no numbers"),
    ],
)
def test_starts_that_cannot_be(x0: Any, error: type[Exception], says: str) -> None:
    """What is no real number is refused by its path."""
    with pytest.raises(error) as caught:
        gt.optimize.minimize(distance, x0)
    assert says in str(caught.value)


@pytest.mark.parametrize("method", ["BFGS", "Newton-CG", "trust-exact"])
def test_what_a_method_cannot_take_is_refused(method: str) -> None:
    """Bounds and constraints that the method would ignore are an error, which lists the methods that take them."""
    with pytest.raises(gt.OperandError, match=f"'{method}' takes no bounds"):
        gt.optimize.minimize(rosenbrock, [1.0, 2.0], method=method, bounds=(0.0, 3.0))
    with pytest.raises(gt.OperandError, match="one that does: SLSQP, trust-constr"):
        gt.optimize.minimize(rosenbrock, [1.0, 2.0], method=method, constraints={"type": "eq", "fun": np.sum})
    with pytest.raises(gt.OperandError, match="options is a list"):
        gt.optimize.minimize(rosenbrock, [1.0, 2.0], options=[("maxiter", 3)])  # type: ignore[arg-type]


def test_unknown_methods_are_listed() -> None:
    """A misspelt method is an error that lists those there are; upper and lower case do not matter."""
    with pytest.raises(gt.OperandError, match="BFGS, L-BFGS-B"):
        gt.optimize.minimize(rosenbrock, [1.0, 2.0], method="bgfs")
    with pytest.raises(gt.OperandError, match="hess='full'"):
        gt.optimize.minimize(rosenbrock, [1.0, 2.0], hess="full")
    assert gt.optimize.minimize(rosenbrock, [1.0, 1.0], method="bfgs").method == "BFGS"


def test_a_tracked_tensor_that_is_no_argument() -> None:
    """A function that reads a tracked tensor besides its arguments would lose a gradient: it is refused."""
    with pytest.raises(gt.DetachError, match="not one of its arguments"):
        gt.grad(lambda a: gt.optimize.minimize(lambda x: (x - a) ** 2, 0.0).x)(3.0)


# -- what it shows


def test_callback_gets_the_structure() -> None:
    """The callback is given x in its structure, or the whole result by the name that SciPy uses."""
    seen: list[Any] = []
    gt.optimize.minimize(distance, start(), callback=lambda x: seen.append(x["w"].shape))
    assert set(seen) == {(2, 3)}

    def stop(intermediate_result: Any) -> None:
        seen.append(intermediate_result)
        raise StopIteration

    found = gt.optimize.minimize(distance, start(), method="BFGS", callback=stop)
    assert found.nit == 1
    assert seen[-1].x["w"].shape == (2, 3)
    assert seen[-1].fun < distance(start())


@pytest.mark.parametrize("method", ["TNC", "COBYQA", "trust-constr", "Nelder-Mead"])
def test_callbacks_of_every_signature(method: str) -> None:
    """Methods that call back with x alone, or with a state, reach the user's callback in the same way."""
    seen: list[Any] = []
    gt.optimize.minimize(rosenbrock, [1.3, 0.7], method=method, callback=seen.append)
    assert seen
    assert all(x.shape == (2,) for x in seen)


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed where there is no terminal, and a line is where it is asked for."""
    gt.optimize.minimize(distance, start())
    assert capsys.readouterr() == ("", "")
    gt.optimize.minimize(distance, start(), progress=True)
    assert "minimising" in capsys.readouterr().err


def test_progress_without_tqdm(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tqdm is not installed, plain lines come at doubling distances."""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with SolverProgress("minimising", True) as shown:
        for _ in range(9):
            shown.step(1.0, 0.5)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert lines[-1] == "minimising: iteration 8 value 1 gradient 5.0e-01"


def test_result_prints_in_a_batch() -> None:
    """Inside vmap a result shows shapes, since it stands for all examples."""
    shown: list[str] = []

    def solved(a: Any) -> Any:
        found = gt.optimize.minimize(lambda x, a: np.sum((x - a) ** 2), np.zeros(2), args=(a,))
        shown.append(repr(found))
        return found.fun

    np.testing.assert_allclose(gt.vmap(solved)(np.ones((3, 2))), 0.0, atol=1e-10)
    assert "in a batch" in shown[0]


def test_result_prints_readably() -> None:
    """The result says how it ended and shows each leaf by its path, large ones by shape and range."""
    text = repr(gt.optimize.minimize(distance, {"w": np.zeros((2, 3)), "b": 0.0}))
    assert text.startswith("found: ")
    assert "x['w']" in text
    assert "x['b']" in text
    large = repr(gt.optimize.minimize(lambda x: np.sum((x - 3.0) ** 2), np.zeros(100)))
    assert "shape (100,), from 3 to 3" in large
    assert len(large) < 400
    assert repr(gt.optimize.minimize(rosenbrock, [5.0, 5.0], options={"maxiter": 1})).startswith("not found")


def test_result_is_a_table_in_notebooks() -> None:
    """A notebook shows how it ended and a row for each unknown; up to twelve numbers are told, more are described."""
    found = gt.optimize.minimize(distance, {"w": np.zeros((2, 3)), "b": 0.0})
    page = found._repr_html_()
    assert page.count("<tr>") == 3
    assert "x[&#x27;w&#x27;]" in page
    assert "(2, 3)" in page
    twelve = repr(gt.optimize.minimize(lambda x: np.sum((x - 3.0) ** 2), np.zeros(12)))
    assert "shape" not in twelve
    many = gt.optimize.minimize(lambda x: np.sum((x["<b>"] - 3.0) ** 2), {"<b>": np.zeros(13)})
    assert "shape (13,), from 3 to 3, mean 3" in many._repr_html_()
    assert "<b>&#x27;" not in many._repr_html_()


# -- derivatives of the solution


def quartic(x: Any, a: Any) -> Any:
    return np.sum((x - a) ** 4) + np.sum((x - a) ** 2) + np.sum(x) ** 2


A = np.array([0.3, 1.5, -0.2])


def solution(a: Any, **options: Any) -> Any:
    return gt.optimize.minimize(quartic, np.zeros(3), args=(a,), tol=1e-12, **options).x


def by_differences(function: Any, x: Any) -> Any:
    """The Jacobian of what a solver finds.

    Where a solver compares function values, it finds a minimum to the square root of their precision, about 1e-8: the
    step is large enough for that to make 1e-5 of a derivative, as little as the curvature within the step makes.
    """
    h = 1e-3
    columns = [(function(x + h * e) - function(x - h * e)) / (2.0 * h) for e in np.eye(x.size)]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("options", [{}, {"bounds": (-1.0, 0.4)}, {"method": "trust-exact"}], ids=repr)
def test_solution_can_be_differentiated(options: Any) -> None:
    """Both modes give the derivative of the minimum by the arguments; at a bound it does not move."""
    exact = gt.jacrev(lambda a: solution(a, **options))(A)
    differences = by_differences(lambda a: solution(a, **options), A)
    np.testing.assert_allclose(exact, differences, atol=1e-4)
    np.testing.assert_allclose(gt.jacfwd(lambda a: solution(a, **options))(A), exact, atol=1e-10)


def test_value_at_the_solution_can_be_differentiated() -> None:
    """`fun` moves with the arguments as the function does at a fixed x."""
    found = gt.grad(lambda a: gt.optimize.minimize(quartic, np.zeros(3), args=(a,), tol=1e-12).fun)(A)
    np.testing.assert_allclose(found, gt.grad(quartic, argnums=1)(solution(A), A), atol=1e-6)


def nearest(centre: Any, radius: Any, method: str = "SLSQP", kind: str = "eq", tol: float = 1e-12) -> Any:
    """The point of a curved surface that is nearest to a centre; a second constraint does not hold with equality."""
    surface = {"type": kind, "fun": lambda p, r: r - np.sum(p["a"] ** 2) - p["b"], "args": (radius,)}
    return gt.optimize.minimize(
        lambda p, c: np.sum((p["a"] - c) ** 2) + p["b"] ** 2,
        {"a": np.full(2, 0.3), "b": 0.2},
        args=(centre,),
        method=method,
        constraints=[surface, {"type": "ineq", "fun": lambda p: p["b"] + 5.0}],
        tol=tol,
    )


@pytest.mark.parametrize("kind", ["eq", "ineq"])
def test_constrained_solutions_can_be_differentiated(kind: str) -> None:
    """Solutions and values move with what is minimised and with what constrains it, as differences say."""
    centre = np.array([2.0, 1.0])
    for what in (lambda c, r: nearest(c, r, kind=kind).x["b"], lambda c, r: nearest(c, r, kind=kind).fun):
        by_centre, by_radius = gt.grad(what, argnums=(0, 1))(centre, 1.0)
        slopes = [(what(centre + 1e-3 * e, 1.0) - what(centre - 1e-3 * e, 1.0)) / 2e-3 for e in np.eye(2)]
        np.testing.assert_allclose(by_centre, slopes, atol=1e-4)
        np.testing.assert_allclose(by_radius, (what(centre, 1.001) - what(centre, 0.999)) / 2e-3, atol=1e-4)


def test_constrained_solutions_of_the_other_method() -> None:
    """The derivative belongs to the solution, not to the method that found it."""
    centre = np.array([2.0, 1.0])
    found = [
        gt.grad(lambda c, method: nearest(c, 1.0, method, tol=1e-8).x["b"])(centre, method)
        for method in ("SLSQP", "trust-constr")
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


def test_constrained_solutions_in_both_modes_and_to_second_order() -> None:
    """Forward mode agrees with reverse, and second derivatives with differences."""
    what = lambda r: nearest(np.array([2.0, 1.0]), r).x["b"]
    np.testing.assert_allclose(gt.jvp(what, (1.0,), (1.0,))[1], gt.grad(what)(1.0), rtol=1e-9)
    second = (gt.grad(what)(1.001) - gt.grad(what)(0.999)) / 2e-3
    np.testing.assert_allclose(gt.grad(gt.grad(what))(1.0), second, rtol=1e-4)


def test_linear_and_nonlinear_constraints_with_bounds() -> None:
    """An unknown at its bound stays, the others go along the line that they are held to."""

    def best(c: Any) -> Any:
        line = optimize.LinearConstraint([[1.0, 1.0, 1.0]], 1.0, 1.0)
        free = optimize.NonlinearConstraint(lambda x: x**2, -1.0, 100.0)
        return gt.optimize.minimize(
            lambda x, c: np.sum((x - c) ** 2),
            np.full(3, 0.2),
            args=(c,),
            constraints=[line, free],
            bounds=(None, 0.5),
            tol=1e-12,
        ).x

    found = gt.jacobian(best)(np.array([2.0, 0.3, 0.2]))
    np.testing.assert_allclose(found, [[0, 0, 0], [0, 0.5, -0.5], [0, -0.5, 0.5]], atol=1e-8)


def test_constrained_solutions_in_batches() -> None:
    """A batch of constrained problems is solved; its derivative is refused with the way out."""
    radii = np.array([0.5, 1.0])
    solved = lambda r: nearest(np.array([2.0, 1.0]), r).x["b"]
    np.testing.assert_allclose(gt.vmap(solved)(radii), [solved(r) for r in radii], atol=1e-8)
    with pytest.raises(gt.UnsupportedError, match="not differentiated in batches"):
        gt.vmap(gt.grad(solved))(radii)


def test_second_derivatives_and_batches_of_solutions() -> None:
    """Hessians of what was found are exact, and vmap solves example by example."""
    loss = lambda a: np.sum(solution(a) ** 2)
    np.testing.assert_allclose(gt.hessian(loss)(A), by_differences(gt.grad(loss), A), atol=1e-4)
    batch = np.stack([A, 2.0 * A])
    np.testing.assert_allclose(gt.vmap(gt.grad(loss))(batch), [gt.grad(loss)(a) for a in batch], atol=1e-8)


def test_batches_of_starts() -> None:
    """Starts differ between the examples of a batch, and each finds its own minimum."""
    found = gt.vmap(lambda s: gt.optimize.minimize(lambda x: (x**2 - 1.0) ** 2, s, tol=1e-10).x)(np.array([2.0, -2.0]))
    np.testing.assert_allclose(found, [1.0, -1.0], atol=1e-5)


def test_a_minimum_within_a_minimum() -> None:
    """A strength of regularisation is tuned through the fit that it regularises: 3 / (1 + strength) = 1."""

    def fitted(strength: Any) -> Any:
        ridge = lambda w, s: np.sum((w - 3.0) ** 2) + s * np.sum(w**2)
        return gt.optimize.minimize(ridge, np.zeros(2), args=(strength,), tol=1e-12).x

    tuned = gt.optimize.minimize(lambda s: np.sum((fitted(s) - 1.0) ** 2), 0.5, tol=1e-9)
    np.testing.assert_allclose(tuned.x, 2.0, atol=1e-6)


def test_start_does_not_move_the_solution() -> None:
    """The derivative by x0 is zero, which is said."""
    with pytest.warns(gt.GradientWarning):
        assert gt.grad(lambda s: gt.optimize.minimize(lambda x: (x - 1.0) ** 2, s).x)(2.0) == 0.0


def test_minimize_scalar() -> None:
    """One number is minimised, within bounds or not, and moves with the arguments."""
    objective = lambda x, a: (x - a) ** 2 + x**4
    free = gt.optimize.minimize_scalar(objective, args=(1.5,))
    assert abs(2.0 * (free.x - 1.5) + 4.0 * free.x**3) < 1e-6
    inside = lambda a: gt.optimize.minimize_scalar(objective, bounds=(0.0, 2.0), args=(a,), options={"xatol": 1e-10}).x
    np.testing.assert_allclose(gt.grad(inside)(1.5), 2.0 / (2.0 + 12.0 * free.x**2), rtol=1e-5)
    held = lambda a: gt.optimize.minimize_scalar(objective, bounds=(0.0, 0.2), args=(a,), options={"xatol": 1e-10}).x
    assert gt.grad(held)(1.5) == 0.0


def barrier(x: Any) -> Any:
    return np.sum(x) - np.sum(np.log(x - 1.0))


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("method", ["BFGS", "CG", "Newton-CG", "trust-ncg"])
def test_a_step_into_nan_is_taken_back_without_a_word(method: str, jit: bool) -> None:
    """NaN at a place that is only tried is the method's business: nothing is said, and the minimum is found."""
    with gt.explain.configure(GT4="raise"):
        found = gt.optimize.minimize(barrier, np.array([1.05, 40.0]), method=method, jit=jit)
    assert found.success
    np.testing.assert_allclose(found.x, 2.0, atol=1e-4)


def test_scipy_is_told_what_to_do_about_a_step_into_nan() -> None:
    """A method of SciPy's that is called directly does not recover: the advice is about the step."""
    problems: list[Any] = []
    with gt.explain.configure(GT4="note"), gt.explain.listening(problems.append), np.errstate(all="ignore"):
        optimize.minimize(gt.value_and_grad(barrier), np.array([1.05, 40.0]), jac=True, method="BFGS")
    assert problems[0].code == "GT401"
    assert "gt.optimize.minimize goes back from NaN" in problems[0].fixes[0]
