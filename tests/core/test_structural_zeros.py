"""Branches that were not taken have a gradient of zero, whatever their slopes: both modes, batched, compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.backprop import keep_saved, walk
from gradtape.core.rules import TABLE
from gradtape.core.structural_zeros import Support, move_support

AT = np.array([4.0, 0.0, -1.0, 1.0])
COLUMN = AT[:, None]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The values that are not taken are not finite: NumPy says so while they are computed."""
    with np.errstate(all="ignore"):
        yield


def masked_write(x: Any) -> Any:
    y = np.log(x)
    y[x <= 0] = 0.0
    return np.sum(y * y)


def copied(x: Any) -> Any:
    y = np.sqrt(x)
    np.copyto(y, 0.0, where=x <= 0)
    return np.sum(y * x)


def taken_twice(x: Any) -> Any:
    root = np.sqrt(x)
    return np.sum(np.where(x > 0, root, 0.0)) + np.sum(np.where(x > 2, root * root * root, 0.0))


ROOTS = [0.25, 0.0, 0.0, 0.5]
LOGARITHMS = [0.25, 0.0, 0.0, 1.0]
BENT_ROOTS = [-1 / 32, 0.0, 0.0, -0.25]
BENT_LOGARITHMS = [-1 / 16, 0.0, 0.0, -1.0]

# the function, its gradient at AT, and the diagonal of its Hessian
CASES: dict[str, tuple[Callable[[Any], Any], list[float], list[float]]] = {
    "sqrt": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), ROOTS, BENT_ROOTS),
    "log": (lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)), LOGARITHMS, BENT_LOGARITHMS),
    "other branch": (lambda x: np.sum(np.where(x <= 0, 0.0, np.log(x))), LOGARITHMS, BENT_LOGARITHMS),
    "quotient": (
        lambda x: np.sum(np.where(x != 0, (x * x) / x, 1.0)),
        [1.0, 0.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
    ),
    "broadcast": (
        lambda x: np.sum(np.where(x > 0, COLUMN / np.maximum(x, 0.0), 0.0)),
        [-0.25, 0.0, 0.0, -4.0],
        [0.125, 0.0, 0.0, 8.0],
    ),
    "chain": (
        lambda x: np.sum(np.where(x > 0, np.exp(0.5 * np.log(x)) ** 3, 0.0)),
        [3.0, 0.0, 0.0, 1.5],
        [0.375, 0.0, 0.0, 0.75],
    ),
    "second order only": (
        lambda x: np.sum(np.where(x > 0, x**1.5, 0.0)),
        [3.0, 0.0, 0.0, 1.5],
        [0.375, 0.0, 0.0, 0.75],
    ),
    "moved": (
        lambda x: np.sum(np.where(x[::-1].reshape(2, 2).T > 0, np.log(x)[::-1].reshape(2, 2).T, 0.0)),
        LOGARITHMS,
        BENT_LOGARITHMS,
    ),
    "joined": (
        lambda x: np.sum(np.where(np.concatenate([x, x]) > 0, np.concatenate([np.log(x), 2 * np.log(x)]), 0.0)),
        [0.75, 0.0, 0.0, 3.0],
        [-3 / 16, 0.0, 0.0, -3.0],
    ),
    "sum of a branch": (
        lambda x: np.sum(np.where(x > 0, np.sum(np.log(x)[:, None] * np.ones(2), axis=1), 0.0)),
        [0.5, 0.0, 0.0, 2.0],
        [-1 / 8, 0.0, 0.0, -2.0],
    ),
    "taken twice": (taken_twice, [3.25, 0.0, 0.0, 0.5], [11 / 32, 0.0, 0.0, -0.25]),
    "maximum": (
        lambda x: np.sum(np.maximum(np.log(np.abs(x)), -1.0)),
        [0.25, 0.0, -1.0, 1.0],
        [-1 / 16, 0.0, -1.0, -1.0],
    ),
    "minimum": (
        lambda x: np.sum(np.minimum(-np.log(np.abs(x)), 1.0)),
        [-0.25, 0.0, 1.0, -1.0],
        [1 / 16, 0.0, 1.0, 1.0],
    ),
    "fmax": (lambda x: np.sum(np.fmax(np.sqrt(x), 0.5)), ROOTS, BENT_ROOTS),
    "clip": (
        lambda x: np.sum(np.clip(np.log(np.abs(x)), -5.0, 5.0)),
        [0.25, 0.0, -1.0, 1.0],
        [-1 / 16, 0.0, -1.0, -1.0],
    ),
    "select": (
        lambda x: np.sum(np.select([x > 0, x < 0], [np.sqrt(x), 2.0 * x], 0.0)),
        [0.25, 0.0, 2.0, 0.5],
        BENT_ROOTS,
    ),
    "where of a ufunc": (
        lambda x: np.sum(np.log(x, where=x > 0, out=gt.zeros(4))),
        LOGARITHMS,
        BENT_LOGARITHMS,
    ),
    "copyto": (copied, [3.0, 0.0, 0.0, 1.5], [0.375, 0.0, 0.0, 0.75]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient_of_what_is_not_taken_is_zero(name: str) -> None:
    """In reverse and in forward mode, mapped over, and in the second derivative."""
    function, slopes, curvatures = CASES[name]
    np.testing.assert_allclose(gt.grad(function)(AT), slopes)
    np.testing.assert_allclose([gt.jvp(function, (AT,), (unit,))[1] for unit in np.eye(4)], slopes)
    np.testing.assert_allclose(gt.vmap(gt.grad(function))(np.stack([AT, AT])), [slopes, slopes])
    np.testing.assert_allclose(np.diag(gt.hessian(function)(AT)), curvatures)
    bent = gt.grad(lambda x: np.sum(gt.grad(function)(x)))(AT)
    np.testing.assert_allclose(bent, curvatures)


@pytest.mark.parametrize("name", CASES)
def test_compiled_gradient_of_what_is_not_taken_is_zero(name: str) -> None:
    """Also when the program was compiled where all numbers were finite."""
    function, slopes, _ = CASES[name]
    step = gt.jit(gt.grad(function))
    step(np.array([4.0, 3.0, 2.0, 1.0]))
    np.testing.assert_allclose(step(AT), slopes)
    assert step.stats.uncompiled == 0


def test_boolean_mask_that_is_written_to() -> None:
    """`y[x <= 0] = 0` takes what was there out of the result."""
    np.testing.assert_allclose(gt.grad(masked_write)(AT), [np.log(4.0) / 2, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(gt.jit(gt.grad(masked_write))(AT), [np.log(4.0) / 2, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", [name for name, op in TABLE.items() if op.moves_elements and op.samples])
def test_support_behind_an_operation_has_every_place_that_a_gradient_reaches(name: str) -> None:
    """Whatever the cotangent is, the rule returns zeros outside of the support that it makes of ones."""
    rng = np.random.default_rng(0)
    op = TABLE[name]
    for inputs, params in op.samples(lambda *shape: rng.normal(size=shape)):
        with gt.GradientTape() as tape:
            watched = [tape.watch(x) if np.asarray(x).dtype.kind == "f" else x for x in inputs]
            result = op(*watched, **params)
        if not isinstance(result, gt.Tensor):
            continue  # a sample of integers
        node = result._node
        places = rng.random(node.shape) < 0.5
        behind = move_support(node, Support(lambda places=places: places), node.values(None))
        cotangents = op.reverse(np.where(places, rng.normal(size=node.shape), 0.0), node, *node.values(None))
        for support, cotangent in zip(behind, cotangents, strict=True):
            if support is not None:
                assert support.places.shape == cotangent.shape
                assert not cotangent[~support.places].any()


def test_zero_that_is_computed_is_not_taken_for_one_by_structure() -> None:
    """Zero times an infinite slope is NaN where both are numbers: the derivative of sqrt(x) ** 2 is one."""

    def square_of_root(x: Any) -> Any:
        return np.sum(np.where(x > -1, np.sqrt(x) ** 2, 0.0))

    with gt.explain.configure(GT4="note"):
        assert np.isnan(gt.grad(square_of_root)(np.zeros(1))[0])
        assert np.isnan(gt.jit(gt.grad(square_of_root))(np.zeros(1))[0])


def test_result_that_is_nan_keeps_its_gradient() -> None:
    """NaN comes through `maximum` and `clip`, and so does its gradient: nothing was chosen instead."""
    with gt.explain.configure(GT4="note"):
        assert np.isnan(gt.grad(lambda x: np.sum(np.maximum(np.sqrt(x), 0.0)))(-np.ones(1))[0])


def test_large_arrays_are_freed_and_right() -> None:
    """Saved values are freed during the walk, so that zeros are followed at once; the large arrays may come later."""
    x = np.tile(AT, 5000)
    wanted = np.tile(ROOTS, 5000)
    np.testing.assert_allclose(gt.grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)))(x), wanted)
    rows = np.abs(np.stack([AT, AT + 2.0])) @ np.ones((4, 1)) * np.ones(20_000)
    rows[1] = 0.0

    def behind_small(x: Any) -> Any:
        means = np.mean(np.log(x), axis=1)  # the choice is among two numbers, the logarithms are many
        return np.sum(np.where(np.isfinite(means), means, 0.0))

    found = gt.grad(behind_small)(rows)
    np.testing.assert_allclose(found[0], 1.0 / rows[0] / rows.shape[1])
    assert not found[1].any()


def test_every_way_of_asking() -> None:
    """Tapes, persistent ones too, `.backward()`, `gradients` and Jacobians; each leaf has its gradient once."""

    def function(x: Any) -> Any:
        return np.where(x > 0, np.sqrt(x), 0.0)

    with gt.GradientTape(persistent=True) as tape:
        x = tape.watch(AT)
        y = function(x)
        total = np.sum(y)
    for _ in range(2):
        np.testing.assert_allclose(tape.gradient(total, x), ROOTS)
    np.testing.assert_allclose(tape.jacobian(y, x), np.diag(ROOTS))
    np.testing.assert_allclose(gt.jacobian(function)(AT), np.diag(ROOTS))
    leaf, other = gt.tensor(AT, requires_grad=True), gt.tensor(2.0, requires_grad=True)
    loss = np.sum(function(leaf)) + other * 3.0
    loss.backward()
    np.testing.assert_allclose(leaf.grad, ROOTS)
    np.testing.assert_allclose(other.grad, 3.0)


def test_hooks_are_called_once_and_may_replace_a_zero() -> None:
    """A hook sees the gradient that is right, once, and what it returns is no zero by structure."""
    seen = []
    leaf, other = gt.tensor(AT, requires_grad=True), gt.tensor(2.0, requires_grad=True)
    root: Any = np.sqrt(leaf)
    scaled = other * 1.0
    scaled.register_hook(lambda g: seen.append(("scaled", float(g))))
    root.register_hook(lambda g: seen.append(("root", g.numpy().tolist())))
    (np.sum(np.where(leaf > 0, root, 0.0)) + scaled).backward()
    assert sorted(seen) == [("root", [1.0, 0.0, 0.0, 1.0]), ("scaled", 1.0)]
    np.testing.assert_allclose(leaf.grad, ROOTS)

    leaf = gt.tensor([4.0, 9.0], requires_grad=True)
    root = np.sqrt(leaf)
    root.register_hook(lambda g: g + 1.0)
    np.sum(np.where(leaf > 5, root, 0.0)).backward()
    np.testing.assert_allclose(leaf.grad, [0.25, 1 / 3])


def test_a_choice_where_saved_values_are_freed_already() -> None:
    """A walk that frees large values behind itself meets a choice among small ones, and then large ones again."""
    large = np.linspace(0.5, 1.5, 20_000).reshape(100, 200)

    def loss(x: Any) -> Any:
        spread = np.sum(x * x, axis=0)
        chosen = np.where(spread <= 60.0, 1.0, np.sqrt(spread - 60.0))
        scaled = x / chosen
        return np.sum(scaled * scaled)

    found = gt.grad(loss)(large)
    step = np.zeros_like(large)
    step[3, 150] = 1e-5
    expected = (loss(large + step) - loss(large - step)) / 2e-5
    assert found[3, 150] == pytest.approx(expected, rel=1e-5)
    assert np.isfinite(found).all()


def test_rows_of_a_choice_have_their_part_of_its_support() -> None:
    """Rows that are written and added to, below a choice by a condition: each costs a row, and the rest stays zero."""

    def fill(x: Any) -> Any:
        rows = np.zeros((4, 3)) * x[0]
        for i in range(4):
            rows[i, :] = np.sqrt(x[i] * np.arange(3.0))
            rows[i, 1] += np.log(x[i])
        return np.sum(np.where(rows > 0.5, rows, 0.0))

    at = np.array([0.25, 1.0, 2.0, 4.0])
    expected = gt.grad(fill)(at)
    assert np.isfinite(expected).all()
    step = gt.jit(gt.grad(fill))
    for _ in range(2):
        np.testing.assert_allclose(step(at), expected, rtol=1e-12)
    np.testing.assert_allclose(gt.vmap(gt.grad(fill))(np.stack([at, at + 1.0]))[0], expected, rtol=1e-12)
    traced = gt.jit(gt.grad(fill)).lower(at)
    whole = [i for i in traced.instructions if i.name == "logical_or" and i.result.shape == (4, 3)]
    assert not whole


def test_a_hook_that_replaces_a_zero_where_the_walk_is_recorded() -> None:
    """What a hook returns is no zero by structure, in the first derivative and in the second."""
    leaf = gt.tensor([4.0, 9.0], requires_grad=True)
    root: Any = np.sqrt(leaf)
    remove = root.register_hook(lambda g: g + 1.0)
    chosen = np.sum(np.where(np.array([False, True]), root, 0.0))
    (first,) = gt.gradients(chosen, [leaf], create_graph=True)
    np.testing.assert_allclose(first.numpy(), [0.25, 1 / 3])  # 1 and 2, times 1 / (2 sqrt(x))
    remove()
    (second,) = gt.gradients(np.sum(first), [leaf])
    np.testing.assert_allclose(second, [-1 / 32, -1 / 54])  # 1 and 2, times -1 / (4 x sqrt(x))


def test_a_hook_before_saved_values_are_freed() -> None:
    """A hook has replaced a zero behind a choice among few numbers; then come large arrays, and an infinite slope."""
    rows = np.array([0.0, 9.0])[:, None] * np.ones(20_000)
    leaf = gt.tensor(rows, requires_grad=True)
    means: Any = np.mean(np.sqrt(leaf), axis=1)
    means.register_hook(lambda g: g + 1.0)
    with pytest.warns(gt.GradientWarning, match="sqrt"):
        np.sum(np.where(np.array([False, True]), means, 0.0)).backward()
    assert np.isinf(leaf.grad.numpy()[0]).all()
    np.testing.assert_allclose(leaf.grad.numpy()[1], 2.0 / 6.0 / 20_000)


def test_a_zero_by_structure_before_saved_values_are_freed() -> None:
    """Without a hook the same row is zero, although its slope is infinite and nothing can be walked again."""
    rows = np.array([0.0, 9.0])[:, None] * np.ones(20_000)
    leaf = gt.tensor(rows, requires_grad=True)
    means = np.mean(np.sqrt(leaf), axis=1)
    np.sum(np.where(np.array([False, True]), means, 0.0)).backward()
    assert not leaf.grad.numpy()[0].any()
    np.testing.assert_allclose(leaf.grad.numpy()[1], 1.0 / 6.0 / 20_000)


def test_saved_values_that_are_kept_allow_a_second_walk() -> None:
    """`check_numerics` keeps large values too: the walk is made once more where a slope is infinite."""
    x = np.tile(AT, 5000)

    def loss(x: Any) -> Any:
        means = np.mean(np.log(np.reshape(x, (-1, 4))), axis=0)
        return np.sum(np.where(AT > 0, means, 0.0))

    token = keep_saved.set(True)
    try:
        found = gt.grad(loss)(x)
    finally:
        keep_saved.reset(token)
    np.testing.assert_allclose(found, np.tile(LOGARITHMS, 5000) / 5000)


def test_complex_slopes_of_what_is_broadcast() -> None:
    """The cotangent of a number that was stretched is made of conjugated slopes, and only of those that were taken."""
    z = np.array([1.0 + 2.0j, 0.0, 2.0 - 1.0j])
    taken = np.array([True, False, True])

    def loss(scale: Any) -> Any:
        return np.sum(np.real(np.where(taken, scale / z, 0.0)))

    found = gt.grad(loss)(2.0 + 1.0j)
    assert found == pytest.approx(np.conj(1.0 / z[0]) + np.conj(1.0 / z[2]))


@pytest.mark.parametrize("at", [0.0, 4.0])
def test_nan_of_a_walk_that_nobody_examines_is_warned_of(at: float) -> None:
    """A walk without `nan_origins` names the operation whose rule made the NaN, and is silent where there is none."""
    with gt.GradientTape() as tape:
        x = tape.watch(gt.tensor([at]))
        y = np.sum(np.sqrt(x) ** 2)
    seeds = [(y._node, np.ones(()))]
    if at:
        np.testing.assert_allclose(walk(seeds, tape.mask, sources=[x._node])[x._node], [1.0])
        return
    with pytest.warns(gt.GradientWarning, match="became NaN in the rule of 'sqrt'"):
        found = walk(seeds, tape.mask, sources=[x._node])
    assert np.isnan(found[x._node]).all()


def test_walk_that_nobody_examines_is_made_once_more() -> None:
    """A walk without `nan_origins` follows zeros by structure too, and warns of nothing."""
    with gt.GradientTape() as tape:
        x = tape.watch(AT)
        y = np.sum(np.where(AT > 0, np.sqrt(x), 0.0))
    found = walk([(y._node, np.ones(()))], tape.mask, sources=[x._node])
    np.testing.assert_allclose(found[x._node], ROOTS)
