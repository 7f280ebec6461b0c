"""gt.implicit: solutions are differentiated by their conditions, whoever found them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import gradtape as gt
from gradtape.transforms.implicit import linear


def cubic(x: Any, a: Any) -> Any:
    return x**3 + a * x - 2.0


@gt.implicit.root(cubic)
def solve_cubic(x: Any, a: Any) -> Any:
    for _ in range(50):
        x = x - cubic(x, a) / (3.0 * x**2 + a)
    return x


def cubic_root(a: Any) -> Any:
    return solve_cubic(np.array(1.0), a)


def cardano(a: Any) -> Any:
    """The real root in closed form."""
    part = np.sqrt(1.0 + a**3 / 27.0)
    return np.cbrt(1.0 + part) + np.cbrt(1.0 - part)


def test_all_orders_match_the_closed_form() -> None:
    """First, second and third derivatives are those of the root's formula."""
    derivative, closed = cubic_root, cardano
    for _ in range(3):
        derivative, closed = gt.grad(derivative), gt.grad(closed)
        np.testing.assert_allclose(derivative(1.5), closed(1.5), rtol=1e-9)


def test_gradcheck_passes() -> None:
    """Both modes, both orders and the batch agree with differences of the solver's own numbers."""
    gt.gradcheck(cubic_root, np.array(1.5), order=2)


def test_forward_and_mixed_modes() -> None:
    """jvp, hvp and jvp of grad are those of the closed form."""
    np.testing.assert_allclose(gt.jvp(cubic_root, (1.5,), (2.0,))[1], 2.0 * gt.grad(cardano)(1.5))
    np.testing.assert_allclose(gt.hvp(cubic_root, 1.5, 1.0), gt.grad(gt.grad(cardano))(1.5))


def test_batches() -> None:
    """vmap of the solution, of its gradient, and the gradient through vmap."""
    a = np.array([1.0, 1.5, 2.0])
    slopes = [gt.grad(cardano)(x) for x in a]
    np.testing.assert_allclose(gt.vmap(cubic_root)(a), [cardano(x) for x in a])
    np.testing.assert_allclose(gt.vmap(gt.grad(cubic_root))(a), slopes)
    np.testing.assert_allclose(gt.grad(lambda a: np.sum(gt.vmap(cubic_root)(a)))(a), slopes)


def test_batches_with_integer_arguments() -> None:
    """Arguments that have no derivative differ between examples too."""

    @gt.implicit.root(lambda x, a, n: x * n - a, has_start=False)
    def divided(a: Any, n: Any) -> Any:
        return a / n

    np.testing.assert_allclose(gt.vmap(gt.grad(divided))(np.ones(3), np.array([1, 2, 4])), [1.0, 0.5, 0.25])


def test_compiled() -> None:
    """A compiled gradient is traced once and gives each argument's own answer."""
    compiled = gt.jit(gt.grad(cubic_root))
    for a in (1.5, 2.0):
        np.testing.assert_allclose(compiled(np.float64(a)), gt.grad(cardano)(a))
    assert compiled.stats.traces == 1


def test_backward_and_tapes() -> None:
    """The tape and .backward() see the solution as one operation."""
    a = gt.Variable(1.5)
    with gt.GradientTape() as tape:
        x = cubic_root(a)
    np.testing.assert_allclose(tape.gradient(x, a), gt.grad(cardano)(1.5))
    b = gt.tensor(1.5, requires_grad=True)
    (2.0 * cubic_root(b)).backward()
    np.testing.assert_allclose(b.grad, 2.0 * gt.grad(cardano)(1.5))


def test_the_solver_sees_plain_arrays() -> None:
    """Whatever is tracked, the solver is given NumPy's arrays, in the nesting of the arguments."""
    seen: list[Any] = []

    @gt.implicit.root(lambda x, p, flag: x - p["a"] * p["b"][0])
    def solver(x: Any, p: Any, flag: Any) -> Any:
        seen.extend([type(x), type(p["a"]), type(p["b"][0]), flag])
        return p["a"] * p["b"][0]

    p = {"a": np.array(2.0), "b": [np.array(3.0)]}
    found = gt.grad(lambda p: solver(np.array(0.0), p, "text"))(p)
    assert seen == [np.ndarray, np.ndarray, np.ndarray, "text"]
    assert (found["a"], found["b"][0]) == (3.0, 2.0)


def test_the_start_has_no_derivative() -> None:
    """The gradient by the first argument is zero, and None says so."""
    with gt.GradientTape() as tape:
        start, a = tape.watch(np.array(1.0)), tape.watch(np.array(1.5))
        x = solve_cubic(start, a)
    assert tape.gradient(x, [start, a])[0] is None


def coupled(x: Any, a: Any) -> Any:
    return {"u": 3.0 * x["u"] + 0.1 * np.sin(x["v"]) - a, "v": 2.0 * x["v"] + 0.1 * x["u"] ** 2 - 1.0}


def loss_by(solve: Any) -> Any:
    @gt.implicit.root(coupled, solve=solve)
    def solver(x: Any, a: Any) -> Any:
        for _ in range(60):
            x = {"u": (a - 0.1 * np.sin(x["v"])) / 3.0, "v": (1.0 - 0.1 * x["u"] ** 2) / 2.0}
        return x

    return lambda a: np.sum(solver({"u": np.zeros(4), "v": np.zeros(4)}, a)["v"] ** 2)


def own_solver(multiply: Any, b: Any) -> Any:
    return np.linalg.solve(np.stack([multiply(e) for e in np.eye(b.size)], axis=1), b)


@pytest.mark.parametrize("solve", ["gmres", "bicgstab", own_solver], ids=["gmres", "bicgstab", "own"])
def test_matrix_free_as_dense(solve: Any) -> None:
    """Without the Jacobian the same derivatives come out: reverse, forward, second order, batched."""
    a = np.array([1.0, 2.0, 3.0, 4.0])
    free, dense = loss_by(solve), loss_by("dense")
    for derivative in (
        lambda f: gt.grad(f)(a),
        lambda f: gt.jvp(f, (a,), (np.ones(4),))[1],
        lambda f: gt.hvp(f, a, np.ones(4)),
        lambda f: gt.vmap(gt.grad(f))(np.stack([a, 2.0 * a])),
    ):
        np.testing.assert_allclose(derivative(free), derivative(dense), rtol=1e-6)


def test_many_unknowns_build_no_jacobian(monkeypatch: pytest.MonkeyPatch) -> None:
    """ "auto" multiplies by the Jacobian where there are many unknowns; conjugate gradients do for minima."""
    n = linear.DENSE_AT_MOST + 100

    def refuse(*_: Any) -> Any:
        raise AssertionError("the Jacobian was built")

    monkeypatch.setattr(linear, "jacobian", refuse)

    def energy(x: Any, a: Any) -> Any:
        return 0.5 * np.sum((x - a) ** 2) + 0.25 * np.sum((x[1:] - x[:-1]) ** 2)

    def minimised(start: Any, a: Any) -> Any:
        found = optimize.minimize(
            gt.value_and_grad(energy), start, args=(a,), jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-10}
        )
        return found.x

    a = np.sin(np.arange(n))
    for solve in ("auto", "cg"):
        fitted = gt.implicit.minimum(energy, solve=solve)(minimised)
        found = gt.grad(lambda start, a, fitted: fitted(start, a)[n // 2], argnums=1)(np.zeros(n), a, fitted)
        matrix = np.eye(n) + 0.5 * (np.diag(np.r_[1.0, np.full(n - 2, 2.0), 1.0]) - np.eye(n, k=1) - np.eye(n, k=-1))
        np.testing.assert_allclose(found, np.linalg.inv(matrix)[n // 2], atol=1e-8)


def test_fixed_points() -> None:
    """x = T(x, a) over a structure: the derivative of Newton's square root is 1 / (2 sqrt a)."""

    def step(x: Any, a: Any) -> Any:
        return {"root": 0.5 * (x["root"] + a / x["root"])}

    @gt.implicit.fixed_point(step)
    def iterated(x: Any, a: Any) -> Any:
        for _ in range(30):
            x = step(x, a)
        return x

    slope = gt.grad(lambda a: np.sum(iterated({"root": np.ones(2)}, a)["root"]))(np.array([4.0, 9.0]))
    np.testing.assert_allclose(slope, [0.25, 1.0 / 6.0])


def test_minima() -> None:
    """Ridge regression by an optimiser has the derivatives of its normal equations."""
    rng = np.random.default_rng(0)
    matrix, data = rng.normal(size=(8, 3)), rng.normal(size=8)

    def ridge(w: Any, y: Any, strength: Any) -> Any:
        return np.sum((matrix @ w - y) ** 2) + strength * np.sum(w**2)

    @gt.implicit.minimum(ridge)
    def fitted(w: Any, y: Any, strength: Any) -> Any:
        return optimize.minimize(gt.value_and_grad(ridge), w, args=(y, strength), jac=True, tol=1e-12).x

    def closed(y: Any, strength: Any) -> Any:
        return np.linalg.solve(matrix.T @ matrix + strength * np.eye(3), matrix.T @ y)

    exact = gt.jacobian(closed, argnums=(0, 1))(data, 0.7)
    found = gt.jacobian(lambda y, s: fitted(np.zeros(3), y, s), argnums=(0, 1))(data, 0.7)
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_a_solution_found_somehow() -> None:
    """`solution` gives a value that is known already the derivative of the root that it is."""
    found = gt.grad(lambda a: gt.implicit.solution(lambda x, a: x**2 - a, 3.0, a))(9.0)
    np.testing.assert_allclose(found, 1.0 / 6.0)


def test_precision_is_kept() -> None:
    """float32 solutions have float32 derivatives."""
    found = gt.grad(lambda a: gt.implicit.solution(lambda x, a: x**2 - a, np.float32(3.0), a))(np.float32(9.0))
    assert found.dtype == np.float32


# -- what can be wrong


def test_singular_jacobians_name_the_unknown() -> None:
    """A double root has no derivative: the error says which unknown is not determined, and the rank."""
    condition = lambda x, a: {"p": x["p"] - a, "q": (x["q"] - 1.0) ** 2}
    with pytest.raises(gt.LinearAlgebraError) as caught:
        gt.grad(lambda a: np.sum(gt.implicit.solution(condition, {"p": np.ones(2), "q": np.ones(2)}, a)["p"]))(
            np.ones(2)
        )
    text = " ".join(str(caught.value).split())
    assert "rank 2 of 4" in text
    assert "the solution['q']" in text


def test_singular_without_the_jacobian() -> None:
    """Matrix-free, an unsolvable system is an error that gives its residual."""
    with pytest.raises(gt.LinearAlgebraError, match="gmres did not solve"):
        gt.grad(lambda a: gt.implicit.solution(lambda x, a: (x - a) ** 2, 1.0, a, solve="gmres"))(1.0)


@pytest.mark.filterwarnings("ignore::gradtape.NumericsWarning")
def test_infinite_slopes_are_noticed() -> None:
    """A condition with an infinite slope at the solution has no derivative there; a warning may name the operation."""
    with pytest.raises(gt.LinearAlgebraError, match="NaN or infinite"):
        gt.grad(lambda a: gt.implicit.solution(lambda x, a: np.sqrt(x) - a, 0.0, a))(0.0)


def test_what_is_no_solution_is_noticed() -> None:
    """A value that does not satisfy the condition gets a warning with the step that Newton would take."""
    with pytest.warns(gt.GradientWarning, match="would move the solution by 1.0e"):
        gt.grad(lambda a: gt.implicit.solution(lambda x, a: x - a, 2.0, a))(1.0)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: gt.implicit.solution(lambda x, a: x[:1], np.ones(2), 1.0), gt.ShapeError, "1 values for 2 unknowns"),
        (lambda: gt.implicit.solution(lambda x: None, 1.0), gt.OperandError, "returned None"),
        (lambda: gt.implicit.solution(lambda x: x * np.nan, 1.0), gt.NumericsError, "NaN or infinite at the solution"),
        (lambda: gt.implicit.solution(lambda x: x, 1.0, solve="lu"), gt.OperandError, "solve='lu'"),
        (lambda: gt.implicit.solution(lambda x: x, 1j), gt.DtypeError, "complex"),
        (lambda: gt.implicit.root("F"), gt.OperandError, "got a str"),
        (lambda: solve_cubic(1.0, a=1.5), gt.OperandError, "a was passed by name"),
        (lambda: gt.implicit.root(lambda x: x)(lambda x: None)(1.0), gt.OperandError, "the solver returned None"),
        (
            lambda: gt.grad(lambda a: gt.implicit.solution(lambda x: x - a, 1.0))(1.0),
            gt.DetachError,
            "not one of its arguments",
        ),
        (
            lambda: gt.grad(lambda a: gt.implicit.root(lambda x: x - 1.0)(lambda x: gt.sin(a))(1.0))(1.0),
            gt.DetachError,
            "not one of its arguments",
        ),
        (
            lambda: gt.grad(
                lambda a: gt.implicit.solution(lambda x, a: x - a, np.ones(2), a, solve=lambda m, b: b[:1])[0]
            )(np.ones(2)),
            gt.LinearAlgebraError,
            "returned shape (1,)",
        ),
    ],
)
def test_mistakes_are_explained(call: Any, error: type[Exception], says: str) -> None:
    """Conditions, solvers and options that cannot be are refused in words."""
    with pytest.raises(error) as caught:
        call()
    assert says in " ".join(str(caught.value).split())


def test_errors_of_the_solver_are_its_own() -> None:
    """An exception of the solver leaves as it is, in a batch too."""

    @gt.implicit.root(cubic)
    def failing(x: Any, a: Any) -> Any:
        raise KeyError("mine")

    for call in (lambda a: failing(a, a), gt.vmap(lambda a: failing(a, a))):
        with pytest.raises(KeyError, match="mine"):
            call(np.ones(2))
