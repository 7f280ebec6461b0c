"""Compiled functions: what goes in and comes out, branches, closures, Variables, side effects, caching, threads."""

from __future__ import annotations

import copy
import functools
import pickle
import threading
import types
import warnings
from collections import defaultdict, deque, namedtuple
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import JitWarning, jit, verify

X = np.array([0.5, -1.0, 2.0])
Pair = namedtuple("Pair", "left right")


@dataclass
class Layer:
    weight: Any
    bias: Any


def assert_compiled(step: Any, traces: int = 1) -> None:
    """Every call so far was answered by a program, and there were `traces` of them, all of which keep the spec."""
    assert (step.stats.traces, step.stats.uncompiled) == (traces, 0)
    verify(step.traced)
    verify(step.program)


# -- transforms inside


def cube(x: Any) -> Any:
    return np.sum(x**3)


TRANSFORMED = {
    "value_and_grad": gt.value_and_grad(cube),
    "grad": gt.grad(cube),
    "grad of grad": gt.grad(lambda x: np.sum(gt.grad(cube)(x) ** 2)),
    "vjp": lambda x: gt.vjp(np.sin, x)[1](np.cos(x)),
    "jvp": lambda x: gt.jvp(np.sin, (x,), (np.cos(x),)),
    "jacobian": gt.jacobian(lambda x: np.sin(x) * x[0]),
    "jacfwd": gt.jacfwd(lambda x: np.sin(x) * x[0]),
    "hessian": gt.hessian(cube),
    "hvp": lambda x: gt.hvp(cube, x, np.cos(x)),
    "vmap": gt.vmap(lambda x: np.exp(x) * x),
    "vmap of grad": gt.vmap(gt.grad(lambda x: np.sin(x) ** 2)),
    "grad of vmap": gt.grad(lambda x: np.sum(gt.vmap(np.tanh)(x))),
    "checkpoint": gt.grad(lambda x: np.sum(gt.checkpoint(lambda y: np.sin(y) ** 2)(x))),
    "linearize": lambda x: gt.linearize(np.sin, x)[1](x),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transforms_work_inside(name: str) -> None:
    """A transform inside a compiled function gives what it gives outside, at the point of the trace and elsewhere."""
    step = jit(TRANSFORMED[name])
    for x in (X, X + 0.25):
        for a, b in zip(_flat(step(x)), _flat(TRANSFORMED[name](x)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14)
    assert_compiled(step)


def _flat(result: Any) -> list[Any]:
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def test_tape_inside() -> None:
    """A tape inside a compiled function is traced, forward and backward."""

    @jit
    def step(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(np.sin(x) ** 2)
        return y, tape.gradient(y, x)

    step(X)
    value, gradient = step(X + 1)
    np.testing.assert_allclose(gradient, np.sin(2 * (X + 1)), rtol=1e-14)
    assert isinstance(gradient, np.ndarray)
    assert value == pytest.approx(np.sum(np.sin(X + 1) ** 2))
    assert_compiled(step)


def test_backward_inside() -> None:
    """`.backward()` inside a compiled function fills `.grad` of the traced argument."""

    @jit
    def step(x: Any) -> Any:
        x.requires_grad_()
        np.sum(x * x).backward()
        return x.grad

    step(X)
    np.testing.assert_array_equal(step(X + 1), 2 * (X + 1))
    assert_compiled(step)


def test_custom_rules_inside() -> None:
    """Custom rules, of both modes, are traced through and used."""

    @gt.custom_vjp
    def clipped(x: Any) -> Any:
        return x * 1.0

    clipped.defvjp(lambda x: (x * 1.0, x), lambda x, g: (g * (np.abs(x) < 1),))

    @gt.custom_jvp
    def doubled(x: Any) -> Any:
        return x * 2.0

    doubled.defjvp(lambda primals, tangents: (primals[0] * 2.0, tangents[0] * 7.0))
    gradient = gt.grad(lambda x: np.sum(clipped(x) * x + doubled(x)))
    step = jit(gradient)
    for x in (X, X * 0.25, X + 3):
        np.testing.assert_allclose(step(x), gradient(x), rtol=1e-14)
    assert_compiled(step)


# -- structures and arguments


def test_structures_in_and_out() -> None:
    """Lists, tuples, named tuples, dictionaries and dataclasses of arrays go in and come out."""

    def function(parts: Any, layer: Any, *, pair: Any) -> Any:
        return {"sum": [p + 1.0 for p in parts], "layer": Layer(layer.weight * 2, None), "pair": Pair(*pair[::-1])}

    step = jit(function)
    for shift in (0.0, 1.0):
        given: Any = ([X, X + shift], Layer(X * shift, "name"))
        answer, expected = step(*given, pair=Pair(X, X + 2)), function(*given, pair=Pair(X, X + 2))
        assert list(answer) == list(expected)
        for a, b in zip(answer["sum"], expected["sum"], strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(answer["layer"].weight, expected["layer"].weight)
        assert answer["layer"].bias is None
        assert type(answer["pair"]) is Pair
        np.testing.assert_array_equal(answer["pair"].left, X + 2)
    assert_compiled(step)


def test_what_is_not_an_array_is_static() -> None:
    """Numbers, strings and functions are static by value: another value is another trace."""
    step = jit(lambda x, power, mode, f: f(x) ** power if mode == "up" else -x)
    np.testing.assert_array_equal(step(X, 2, "up", np.abs), X**2)
    np.testing.assert_array_equal(step(X, 3, "up", np.abs), np.abs(X) ** 3)
    np.testing.assert_array_equal(step(X, 3, "down", np.abs), -X)
    np.testing.assert_allclose(step(X, 1, "up", np.sin), np.sin(X))
    step(X + 1, 3, "down", np.abs)
    assert_compiled(step, 4)


@pytest.mark.parametrize("how", [{"static_argnums": 1}, {"static_argnames": "count"}])
def test_static_arguments_may_be_passed_either_way(how: Any) -> None:
    """An argument that is static by its place is so by its name, too, and the other way round."""
    step = jit(gt.value_and_grad(lambda x, count: np.sum(x) * count), **how)
    x = np.ones(2)
    assert [step(x, np.float64(3.0))[0], step(x, count=np.float64(4.0))[0], step(x, np.float64(5.0))[0]] == [6, 8, 10]
    assert step.stats.traces == 3


@pytest.mark.parametrize("how", [{"static_argnums": 2}, {"static_argnums": -3}, {"static_argnames": "counts"}])
def test_static_arguments_that_there_are_not_are_refused(how: Any) -> None:
    """A place or a name that a function does not have is most likely misspelt."""
    with pytest.raises(gt.OperandError, match=r"static_argn.*the function has"):
        jit(lambda x, count: x * count, **how)
    assert jit(lambda *args, **kwargs: args[0] * 2.0, **how)(np.ones(1)) == 2.0


@pytest.mark.parametrize("how", ["number", "name"])
def test_static_arguments(how: str) -> None:
    """Arguments named as static are handed over as they are."""

    def function(x: Any, shape: Any) -> Any:
        assert type(shape) is tuple
        return x.reshape(shape)

    step = jit(function, static_argnums=1) if how == "number" else jit(function, static_argnames="shape")
    call = (lambda s: step(np.ones(6), s)) if how == "number" else (lambda s: step(np.ones(6), shape=s))
    assert call((2, 3)).shape == (2, 3)
    assert call((3, 2)).shape == (3, 2)
    assert call((3, 2)).shape == (3, 2)
    assert_compiled(step, 2)
    with pytest.raises(gt.OperandError, match="has no hash"):
        call([3, 2])


def test_numpy_in_numpy_out_tensors_in_tensors_out() -> None:
    """The answer is of the kind of the arguments: arrays and NumPy's numbers, or tensors."""
    step = jit(lambda x: (x * 2, np.sum(x)))
    doubled, total = step(X)
    assert (type(doubled), type(total)) == (np.ndarray, np.float64)
    doubled, total = step(gt.tensor(X))
    assert (type(doubled), type(total)) == (gt.Tensor, gt.Tensor)
    assert_compiled(step, 2)


@pytest.mark.parametrize(
    "given", [np.float64(2.5), np.array(2.5), np.float32(2.5), np.array([], float), np.array([1, 2]), np.array([True])]
)
def test_forms_of_results_are_eager_ones(given: Any) -> None:
    """Numbers of shape (), single precision, integers, booleans and empty arrays give the eager type and dtype."""
    function = lambda x: (x + 1, x * 0.5, np.sum(x, axis=None), x > 1)
    step = jit(function)
    step(given)
    for a, b in zip(step(given), function(given), strict=True):
        assert type(a) is type(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)
    assert_compiled(step)


ODD = {
    "every second": lambda: np.arange(12.0)[::2],
    "backwards": lambda: np.arange(6.0)[::-1],
    "transposed": lambda: np.arange(6.0).reshape(2, 3).T[:, 0].repeat(2),
    "zero strides": lambda: np.broadcast_to(np.float64(3.0), (6,)),
    "byte-swapped": lambda: np.arange(6.0).astype(">f8"),
    "unaligned": lambda: np.frombuffer(b"\0" + np.arange(6.0).tobytes(), dtype=np.uint8)[1:].view("f8"),
    "overlapping": lambda: np.lib.stride_tricks.as_strided(np.arange(6.0), (6,), (0,)),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_arrays_give_the_eager_answer(name: str) -> None:
    """Arrays that are strided, repeated, swapped, read-only or unaligned give the eager answer and stay as they are."""
    odd = ODD[name]()
    odd.flags.writeable = False
    before = odd.tobytes()
    function = gt.value_and_grad(lambda x: np.sum(np.sin(x) * x[::-1]))
    step = jit(function)
    step(np.ones(6))
    (value, gradient), (expected, slope) = step(odd), function(odd)
    assert value == pytest.approx(expected, rel=1e-13)
    assert gradient.dtype == slope.dtype
    np.testing.assert_allclose(gradient, slope, rtol=1e-13, atol=1e-14)
    assert odd.tobytes() == before
    assert step.stats.uncompiled == 0


# -- results are the caller's


def test_results_are_fresh() -> None:
    """What a call returns is nobody else's: not an argument's, a constant's, another result's or a later call's."""
    table = np.arange(3.0)
    step = jit(lambda x: (x, x, x.reshape(1, 3), x[:2], table, np.zeros(3), x * 2, np.tanh(np.exp(x * 2)) + 1))
    first, second = step(X), step(X)
    arrays = [*first, *second]
    for i, a in enumerate(arrays):
        assert a.flags.writeable
        assert not np.shares_memory(a, X)
        assert not np.shares_memory(a, table)
        assert not any(np.shares_memory(a, b) for b in arrays[i + 1 :])


def test_large_intermediate_values_share_buffers_and_results_do_not() -> None:
    """Buffers are used again within and between calls, and a result keeps its numbers when later calls are made."""
    function = lambda x: np.tanh(np.exp(np.sin(x) * 0.5) + np.cos(x)).reshape(10, -1)
    step = jit(function)
    large = np.linspace(0, 1, 50_000)
    answers = [step(large + i) for i in range(4)]
    for i, answer in enumerate(answers):
        np.testing.assert_allclose(answer, function(large + i), rtol=1e-13, atol=1e-15)
    assert step.memory < 4 * large.nbytes
    assert_compiled(step)


# -- branches on values


@pytest.mark.parametrize("dtype", [float, int, complex])
def test_the_truth_of_a_number_is_whether_it_is_zero(dtype: Any) -> None:
    """`if x:` is traced again for zero only, and not for each other number."""
    compiled = jit(lambda x: 2 * x if x else x - 1)
    for number in (1, 2, 3, 0, 5):
        assert compiled(np.array(number, dtype)) == (2 * number if number else -1)
    assert compiled.stats.traces == 2


def test_branch_is_guarded_and_traced_again() -> None:
    """A branch on a value takes the way that the value says, in every call, with one trace for each way."""

    @jit
    def step(x: Any) -> Any:
        if np.sum(x) > 1.0:
            return x * 2
        return x - 1

    for x in (X, -X, X + 1, -X - 1):
        np.testing.assert_array_equal(step(x), x * 2 if x.sum() > 1 else x - 1)
    assert_compiled(step, 2)
    assert step.stats.guards_failed == 2


LOOKS = {
    "float": lambda x: x * float(x[0]),
    "int": lambda x: x * int(x[0] * 10),
    "item": lambda x: x * x[0].item(),
    "numpy": lambda x: x + x.numpy() if isinstance(x, gt.Tensor) else x + x,
    "asarray": lambda x: x + np.asarray(x),
    "tolist": lambda x: x * sum(x.tolist()),
    "iteration": lambda x: sum(v * v for v in x),
    "comparison chain": lambda x: x if 0 < np.sum(x) < 2 else -x,
    "while": lambda x: _halved(x),
}


def _halved(x: Any) -> Any:
    while np.max(np.abs(x)) > 1.0:
        x = x / 2
    return x


@pytest.mark.parametrize("name", LOOKS)
def test_looking_at_a_value_never_makes_it_stale(name: str) -> None:
    """However a number leaves the trace, the answer for other numbers is the eager one."""
    step = jit(LOOKS[name])
    for x in (X, X * 3, X - 1, X):
        np.testing.assert_allclose(step(x), LOOKS[name](x), rtol=1e-14)
    assert step.stats.uncompiled == 0


def test_a_value_that_is_never_the_same_ends_compilation_with_a_warning() -> None:
    """A function that relies on an exact number each time is run as it is after a while, and says which line it is."""

    @jit
    def step(x: Any) -> Any:
        return x * float(x[0])

    for i in range(4):
        np.testing.assert_array_equal(step(X + i), (X + i) * (X[0] + i))
    with pytest.warns(JitWarning, match=r"GT701.* was traced 5 times for the same kind of arguments"):
        step(X + 4)
    for i in range(5, 16):
        np.testing.assert_array_equal(step(X + i), (X + i) * (X[0] + i))
    assert_compiled(step, 16)
    with pytest.warns(JitWarning, match=r"float\(x\[0\]\)"):
        step(X + 16)
    np.testing.assert_array_equal(step(X + 17), (X + 17) * (X[0] + 17))
    assert step.stats.uncompiled == 2


def test_forms_that_depend_on_values_are_guarded() -> None:
    """An operation whose result has another shape for other numbers is traced again for that shape."""
    step = jit(lambda x: np.sum(x[np.flatnonzero(x > 0)] * 2))
    for x in (X, -X, np.array([1.0, 2.0, 3.0])):
        assert step(x) == pytest.approx(2 * x[x > 0].sum())


def test_masks() -> None:
    """A mask picks what it says in every call, and is differentiated through."""
    function = gt.value_and_grad(lambda x: np.sum(x[x > 0] ** 2) + np.sum(x[np.abs(x) > 1.5]))
    step = jit(function)
    for x in (X, X * 2, -X, np.array([1.0, 2.0, 3.0])):
        (value, gradient), (expected, slope) = step(x), function(x)
        assert value == pytest.approx(expected)
        np.testing.assert_allclose(gradient, slope)
    assert step.stats.uncompiled == 0


# -- what is read besides the arguments

SCALE = 2.0
TABLE = np.array([1.0, 2.0, 3.0])
SETTINGS = {"shift": np.array(1.0), "names": ["a"]}
activation: Any = np.tanh


def helper(x: Any) -> Any:
    return np.sin(TABLE) * x * SCALE


def test_global_array_changed_or_bound_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """An array that a function reads by name, itself or in a helper, is read again in every call: no trace is stale."""
    module = globals()
    monkeypatch.setitem(module, "TABLE", TABLE.copy())
    step = jit(lambda x: helper(x) + np.cos(TABLE))
    step(X)
    module["TABLE"][:] = 5.0
    np.testing.assert_allclose(step(X), np.sin(5.0) * X * 2 + np.cos(5.0))
    module["TABLE"] = np.zeros(3)
    np.testing.assert_allclose(step(X), np.ones(3))
    assert_compiled(step)
    module["TABLE"] = np.zeros(1)
    np.testing.assert_allclose(step(X), np.ones(3))
    assert_compiled(step, 2)


def test_global_number_and_function_bound_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number or function that is bound anew makes another trace; bound back, the first one fits again."""
    step = jit(lambda x: activation(helper(x)))
    first = step(X)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    np.testing.assert_allclose(step(X), np.tanh(np.sin(TABLE) * X * 3))
    monkeypatch.setitem(globals(), "activation", np.exp)
    np.testing.assert_allclose(step(X), np.exp(np.sin(TABLE) * X * 3))
    assert_compiled(step, 3)
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    monkeypatch.setitem(globals(), "activation", np.tanh)
    np.testing.assert_array_equal(step(X), first)
    assert_compiled(step, 3)


def test_closures_containers_defaults_and_partials() -> None:
    """Arrays in closed-over names, lists, dictionaries, defaults and partial arguments are read again in every call."""
    closed, listed, named, default, part = (np.full(3, float(i)) for i in range(1, 6))
    holder, names = [listed, "note"], {"w": named, "deep": {"v": listed}}

    def inner(x: Any, p: Any, d: Any = default) -> Any:
        return x * closed + holder[0] * names["w"] + d - p + names["deep"]["v"]

    function = partial(inner, p=part)
    step = jit(function)
    np.testing.assert_array_equal(step(X), function(X))
    for array in (closed, listed, named, default, part):
        array += 0.5
        np.testing.assert_array_equal(step(X), function(X))
    names["w"] = np.zeros(3)
    np.testing.assert_array_equal(step(X), function(X))
    closed = np.ones(3)
    np.testing.assert_array_equal(step(X), function(X))
    assert_compiled(step)
    names["more"] = np.ones(1)
    np.testing.assert_array_equal(step(X), function(X))
    assert_compiled(step, 2)


class Model:
    """A model as users write them: arrays and Variables as attributes, and methods."""

    def __init__(self) -> None:
        self.weight = gt.Variable(np.ones(3), name="weight")
        self.bias = np.zeros(3)
        self.calls = 0
        self.history: Any = None

    def __call__(self, x: Any) -> Any:
        return x * self.weight + self.bias + np.sum(self.weight**2)

    @jit
    def step(self, x: Any) -> Any:
        with gt.GradientTape() as tape:
            loss = np.mean(self(x) ** 2)
        self.weight.assign_sub(0.1 * tape.gradient(loss, self.weight))
        self.bias = self.bias + 1.0
        return loss

    def eager_step(self, x: Any) -> Any:
        with gt.GradientTape() as tape:
            loss = np.mean(self(x) ** 2)
        self.weight.assign_sub(0.1 * tape.gradient(loss, self.weight))
        self.bias = self.bias + 1.0
        return loss


def test_objects_and_variables() -> None:
    """Attributes are read in every call; Variables assigned and attributes bound inside are written back after it."""
    compiled, eager = Model(), Model()
    before = Model.step.stats.traces
    for i in range(4):
        a, b = compiled.step(X), eager.eager_step(X)
        assert float(a) == pytest.approx(float(b), rel=1e-14)
        np.testing.assert_allclose(compiled.weight.numpy(), eager.weight.numpy(), rtol=1e-14)
        np.testing.assert_array_equal(compiled.bias, eager.bias)
        if i == 1:
            for model in (compiled, eager):
                model.weight.assign([1.0, 0.5, 0.25])
                model.bias[:] = 0.125
    assert Model.step.stats.traces == before + 1
    assert Model.step.stats.uncompiled == 0


def test_variables_in_closures_and_arguments() -> None:
    """A Variable is read and assigned, whether it is closed over or passed in."""
    v, w = gt.Variable([1.0, 2.0]), gt.Variable([3.0, 4.0])

    @jit
    def step(other: Any) -> Any:
        with gt.GradientTape() as tape:
            loss = np.sum(v * v * other)
        for variable, gradient in zip((v, other), tape.gradient(loss, (v, other)), strict=True):
            variable.assign_sub(gradient * 0.1)
        v.assign_add(1.0)
        return loss, tape.watched_variables()[0]

    loss, returned = step(w)
    assert returned is v
    assert float(loss) == 1 * 3 + 4 * 4
    np.testing.assert_allclose(v.numpy(), [1 - 0.6 + 1, 2 - 1.6 + 1])
    np.testing.assert_allclose(w.numpy(), [3 - 0.1, 4 - 0.4])
    loss, _ = step(w)
    assert float(loss) == pytest.approx(1.4**2 * 2.9 + 1.4**2 * 3.6)
    assert_compiled(step)


def test_callable_objects_and_ufuncs() -> None:
    """An object that can be called, a bound method and a ufunc are compiled like functions."""
    model = Model()
    for step in (jit(model), jit(model.__call__)):
        np.testing.assert_allclose(step(X), X + model.bias + 3.0)
        model.bias += 1.0
        np.testing.assert_allclose(step(X), X + model.bias + 3.0)
        assert_compiled(step)
        assert not hasattr(step, "bias")
    np.testing.assert_allclose(jit(np.sin)(X), np.sin(X), rtol=1e-14)


def test_one_variable_found_twice() -> None:
    """A Variable that is passed twice, or passed and closed over, is one Variable: an assignment is seen everywhere."""
    v, w = gt.Variable([1.0, 2.0]), gt.Variable([5.0, 5.0])

    @jit
    def step(first: Any, second: Any) -> Any:
        first.assign_add(1.0)
        with gt.GradientTape() as tape:
            y = np.sum(second * v)
        return y, tape.gradient(y, v), first

    y, gradient, returned = step(v, v)
    assert returned is v
    assert float(y) == 4.0 + 9.0
    np.testing.assert_array_equal(gradient.numpy(), [4.0, 6.0])
    y, gradient, returned = step(w, v)
    assert returned is w
    assert float(y) == 4.0 + 9.0
    np.testing.assert_array_equal(w.numpy(), [6.0, 6.0])
    y, gradient, _ = step(v, v)
    assert float(y) == 9.0 + 16.0
    assert_compiled(step, 2)


def test_writing_in_place() -> None:
    """An argument or captured array that is written to inside is written to in every call."""
    total = np.zeros(3)

    def function(x: Any) -> Any:
        x[0] = 7.0
        total[1] += 1.0
        return x * 2

    step = jit(function)
    for count in (1, 2):
        x = X.copy()
        np.testing.assert_array_equal(step(x), [14.0, -2.0, 4.0])
        np.testing.assert_array_equal(x, [7.0, -1.0, 2.0])
        np.testing.assert_array_equal(total, [0.0, count, 0.0])
    assert_compiled(step)


def test_numbers_of_numpys_do_not_change_in_place() -> None:
    """`t += 1` on a result of shape () leaves other names of it alone, as with NumPy's own numbers."""

    def function(x: Any, n: Any) -> Any:
        total = np.sum(x)
        other = total
        other += 1.0
        n += 1.0
        return total, other, n

    step = jit(function)
    for _ in range(2):
        assert step(X, np.float64(3.0)) == (1.5, 2.5, 4.0)
    assert_compiled(step)


def test_writing_through_a_view() -> None:
    """A write through a view is compiled, and is in the argument after each call."""

    def function(x: Any) -> Any:
        part = x[:2]
        part[0] = 5.0
        return x * 2

    step = jit(function)
    for _ in range(2):
        given = X.copy()
        np.testing.assert_array_equal(step(given), [10.0, -2.0, 4.0])
        np.testing.assert_array_equal(given, [5.0, *X[1:]])
    assert_compiled(step)


def test_arrays_in_other_modules_and_slots_are_watched() -> None:
    """What cannot be replaced while tracing (an attribute in a slot) is compared in every call instead."""

    class Slotted:
        __slots__ = ("array",)

        def __init__(self) -> None:
            self.array = np.ones(3)

    holder = Slotted()
    step = jit(lambda x: x * np.exp(holder.array))
    step(X)
    holder.array[0] = 0.0
    np.testing.assert_allclose(step(X), X * np.exp(holder.array), rtol=1e-14)
    assert_compiled(step, 2)


def test_unusual_containers() -> None:
    """Arrays in a deque, a dictionary with a default, and as an attribute of a function are read again, too."""
    queue, table = deque([X.copy()]), defaultdict(lambda: 1.0, weight=X.copy())

    def function(x: Any) -> Any:
        return x * queue[0] + table["weight"] * table["other"] + function.shift  # type: ignore[attr-defined]

    function.shift = np.zeros(3)  # type: ignore[attr-defined]
    table["other"] = 1.0
    step = jit(function)
    np.testing.assert_array_equal(step(X), function(X))
    queue[0] = X + 1
    table["weight"][:] = 3.0
    np.testing.assert_array_equal(step(X), function(X))
    assert_compiled(step)
    function.shift = np.ones(3)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(step(X), function(X))
    assert_compiled(step, 2)


def test_overlapping_arguments_that_are_written_to() -> None:
    """A write to an argument is seen in another that shares its memory, as it is without jit."""

    def function(x: Any, y: Any) -> Any:
        x[0] = 5.0
        return y * 2

    step = jit(function)
    separate, shared = X.copy(), X.copy()
    np.testing.assert_array_equal(step(separate, X), X * 2)
    np.testing.assert_array_equal(step(shared, shared), [10.0, -2.0, 4.0])
    np.testing.assert_array_equal(step(separate, X), X * 2)


class Defaults:
    """A class that holds an array and a number for all its objects."""

    table = np.ones(3)
    factor = 2.0

    def scaled(self, x: Any) -> Any:
        return x * self.table * Defaults.factor


def test_attributes_of_classes_are_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """An array or number that a class holds makes another trace when it changes."""
    item = Defaults()
    step = jit(lambda x: item.scaled(x))
    np.testing.assert_array_equal(step(X), X * 2)
    monkeypatch.setattr(Defaults, "factor", 3.0)
    np.testing.assert_array_equal(step(X), X * 3)
    monkeypatch.setattr(Defaults, "table", np.full(3, 2.0))
    np.testing.assert_array_equal(step(X), X * 6)
    Defaults.table[0] = 0.0
    np.testing.assert_array_equal(step(X), X * 3 * Defaults.table)
    assert_compiled(step, 4)


def test_arrays_of_other_modules_are_watched() -> None:
    """An array that is read as an attribute of a module makes another trace when it changes."""
    module = types.ModuleType("settings")
    module.__file__ = __file__
    vars(module)["weights"] = np.ones(3)
    scope = {"settings": module, "np": np}
    exec(compile("def read(x):\n    return np.exp(x) * settings.weights", __file__, "exec"), scope)
    step = jit(scope["read"])
    step(X)
    vars(module)["weights"][:] = 2.0
    np.testing.assert_allclose(step(X), np.exp(X) * 2, rtol=1e-14)
    vars(module)["weights"] = np.full(3, 5.0)
    np.testing.assert_allclose(step(X), np.exp(X) * 5, rtol=1e-14)
    assert_compiled(step, 3)


def test_nonlocal_names_are_written_back() -> None:
    """A name of an enclosing function that is bound inside has its new value after each call."""
    total, count = np.zeros(3), np.zeros(())

    def function(x: Any) -> Any:
        nonlocal total, count
        total = total + x
        count = count + 1.0
        return total * 2

    def read() -> Any:
        return total

    step = jit(lambda x: function(x) + read())
    for i in (1, 2, 3):
        np.testing.assert_array_equal(step(X), 3 * i * X)
        np.testing.assert_array_equal(total, i * X)
        assert count == i
    assert_compiled(step)


def test_what_is_kept_outside_is_kept_by_the_function_itself() -> None:
    """A function that puts results into a list, a dictionary or a name of its own is run as it is, with a warning."""
    history: list[Any] = []
    last = None

    def function(x: Any) -> Any:
        nonlocal last
        history.append(np.sum(x))
        last = x * 2
        return x

    step = jit(function)
    with pytest.warns(JitWarning, match="keeps a traced value"):
        step(X)
    step(X)
    assert history == [1.5, 1.5]
    np.testing.assert_array_equal(last, X * 2)


def test_recursive_functions_and_compiled_helpers() -> None:
    """Functions that call themselves, or another compiled function, are traced through."""
    factor = np.array(2.0)

    def power(x: Any, n: int) -> Any:
        return factor if n == 0 else x * power(x, n - 1)

    inner = jit(lambda x: x * factor)
    step = jit(lambda x: power(x, 3) + inner(x))
    step(X)
    factor[...] = 3.0
    np.testing.assert_allclose(step(X), X**3 * 3 + X * 3)
    assert_compiled(step)
    assert inner.stats.traces == 0


# -- randomness, printing, escapes


def test_random_draws_are_not_frozen() -> None:
    """A function that draws random numbers is run as it is, with a warning: no draw is repeated."""
    rng = np.random.default_rng(0)
    step = jit(lambda x: x + rng.normal(size=3))
    with pytest.warns(JitWarning, match="random numbers"):
        first = step(X)
    assert not np.array_equal(first, step(X))
    legacy = jit(lambda x: x + np.random.random())
    with pytest.warns(JitWarning, match="random numbers"):
        first = legacy(X)
    assert not np.array_equal(first, legacy(X))


def test_draws_with_traced_parameters_are_part_of_the_program() -> None:
    """`gt.random` with a parameter that is traced draws anew in each run, as many numbers as eager code would."""
    function = lambda rng, scale: gt.random.normal(rng, np.zeros(3) * scale, scale) * 2
    step = jit(function)
    compiled, eager = np.random.default_rng(7), np.random.default_rng(7)
    answers = [step(compiled, np.ones(3)) for _ in range(3)]
    for answer in answers:
        np.testing.assert_allclose(answer, np.asarray(function(eager, gt.tensor(np.ones(3)))))
    assert not np.array_equal(answers[0], answers[1])


def test_printing_warns(capsys: pytest.CaptureFixture[str]) -> None:
    """Printing a traced value shows it, once, with a warning that it will not be printed in later calls."""

    @jit
    def step(x: Any) -> Any:
        print(f"total {np.sum(x):.2f}", x)
        return x * 2

    with pytest.warns(JitWarning, match="printed"):
        step(X)
    assert "total 1.50" in capsys.readouterr().out
    step(X)
    assert capsys.readouterr().out == ""


def test_traced_value_that_escapes_says_so() -> None:
    """A traced value kept outside of the function cannot be used: the error names the way out."""
    kept: set[Any] = set()
    step = jit(lambda x: kept.add(x * 2) or x)
    step(X)
    (escaped,) = kept
    with pytest.raises(gt.TapeError, match="return it"):
        escaped + 1
    with pytest.raises(gt.TapeError, match="return it"):
        escaped.numpy()


# -- errors


def test_error_while_tracing_names_the_line() -> None:
    """A clash of shapes in a compiled function is the usual error, at the user's line."""
    step = jit(lambda x, y: np.sin(x) + y)
    with pytest.raises(gt.ShapeError, match=r"np\.sin\(x\) \+ y"):
        step(np.ones(3), np.ones(4))


def test_index_out_of_range() -> None:
    """An index that is out of range raises IndexError, when traced and when run."""
    step = jit(lambda x, i: x[i])
    assert step(X, np.array(1)) == X[1]
    with pytest.raises(IndexError):
        step(X, np.array(3))
    with pytest.raises(IndexError):
        jit(lambda x: x[5])(X)
    assert step(X, np.array(-1)) == X[-1]


def test_reasons_are_not_swallowed() -> None:
    """A function that catches all errors does not catch that it cannot be compiled."""
    hidden = {gt.Variable(X)}

    def function(x: Any) -> Any:
        (v,) = hidden
        try:
            return x * v
        except Exception:
            return x

    step = jit(function)
    with pytest.warns(JitWarning, match="Variable"):
        np.testing.assert_array_equal(step(X).numpy(), X * X)


def test_unsupported_function_is_run_as_it_is() -> None:
    """A function that gradtape cannot trace is run as it is, with a warning that names the reason."""
    step = jit(lambda x: np.packbits(x > 0))
    with pytest.warns(JitWarning, match="packbits"):
        np.testing.assert_array_equal(step(X), np.packbits(X > 0))
    np.testing.assert_array_equal(step(X), np.packbits(X > 0))


def test_wrong_arguments() -> None:
    """What is not a function, and options of the wrong kind, are refused with what was given."""
    with pytest.raises(gt.OperandError, match="int was given"):
        jit(3)  # type: ignore[call-overload]
    with pytest.raises(gt.OperandError, match="static_argnums"):
        jit(np.sin, static_argnums="x")  # type: ignore[arg-type]
    with pytest.raises(gt.OperandError, match="cache_size"):
        jit(np.sin, cache_size=0)
    with pytest.raises(gt.OperandError, match="not been compiled yet"):
        _ = jit(np.sin).program


@pytest.mark.parametrize("given", [np.array(["a", "b"]), np.ma.masked_array([1.0, 2.0], [True, False])])
def test_arrays_of_other_kinds_are_handed_on(given: Any) -> None:
    """Arrays that hold no numbers, or are more than arrays, are left to the function itself."""
    step = jit(lambda x: x[0])
    with pytest.warns(JitWarning, match="not compiled"):
        assert step(given) is given[0] or step(given) == given[0]


# -- on tapes and in other interpreters


def test_compiled_function_inside_transforms() -> None:
    """A compiled function can be differentiated and mapped over from outside."""
    step = jit(lambda x: np.sum(np.sin(x) ** 2))
    np.testing.assert_allclose(gt.grad(step)(X), np.sin(2 * X))
    np.testing.assert_allclose(gt.vmap(step)(np.stack([X, X + 1])), [step(X), step(X + 1)])
    v = gt.Variable(X)
    reader = jit(lambda x: np.sum(x * v))
    reader(X)
    with gt.GradientTape() as tape:
        y = reader(X) * 2.0
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), 2 * X)


def test_captured_tensors_that_are_recorded_outside() -> None:
    """A closed-over tensor that a tape outside records gets its gradient, before and after a compiled call."""
    inner = gt.tensor(X)
    step = jit(lambda x: np.sum(x * inner))
    for expected_runs in (1, 2):
        step(X)
        with gt.GradientTape() as tape:
            tape.watch(inner)
            y = step(X) * 3.0
        np.testing.assert_array_equal(tape.gradient(y, inner).numpy(), 3 * X)
        inner = gt.tensor(X + expected_runs)
        assert step.stats.runs == expected_runs
    leaf = gt.tensor(X, requires_grad=True)
    reader = jit(lambda x: np.sum(x * leaf))
    with gt.no_grad():
        assert reader(X) == pytest.approx(np.sum(X * X))
    assert_compiled(reader)
    with pytest.warns(JitWarning, match="requires_grad"):
        reader(X).backward()
    np.testing.assert_array_equal(leaf.grad.numpy(), X)


def test_arguments_that_are_changed_as_containers() -> None:
    """A dictionary that a function puts something else into is changed, as it would be without jit."""

    def function(params: Any) -> Any:
        params["w"] = params["w"] * 2
        return params["w"]

    params = {"w": X}
    step = jit(function)
    with pytest.warns(JitWarning, match="changes a list, dictionary"):
        step(params)
    np.testing.assert_array_equal(params["w"], X * 2)


def test_lower_refuses_what_cannot_be_compiled() -> None:
    """Compiling ahead raises, where a call would run the function as it is."""
    with pytest.raises(gt.OperandError, match="random numbers"):
        jit(lambda x: x + np.random.random()).lower(X)
    with pytest.raises(gt.OperandError, match="recorded or mapped"):
        jit(np.sin).lower(gt.tensor(X, requires_grad=True))


def test_arrays_bound_anew_are_not_kept_alive() -> None:
    """A compiled function holds no reference to the arrays that it once read."""
    import weakref

    table = np.arange(3.0)
    step = jit(lambda x: x + table)
    step(X)
    old = weakref.ref(table)
    table = np.zeros(3)
    np.testing.assert_array_equal(step(X), X)
    assert old() is None


def test_no_grad_outside_is_another_trace() -> None:
    """`no_grad` around a call is heeded."""

    def function(x: Any) -> Any:
        x.requires_grad_()
        return x * 1.0 if (x * x).requires_grad else x * 0.0

    step = jit(function)
    np.testing.assert_array_equal(step(X), X)
    with gt.no_grad():
        np.testing.assert_array_equal(step(X), X * 0)
    np.testing.assert_array_equal(step(X), X)


# -- caching and threads


def test_one_trace_for_each_form() -> None:
    """Shapes, dtypes and structure each make another trace; numbers do not."""
    step = jit(lambda x: gt.sum(x["a"]))
    for x in (X, X + 1, X.astype("float32"), X[:2], X.reshape(1, 3)):
        step({"a": x})
    step({"a": X, "b": X})
    assert_compiled(step, 5)
    assert step.stats.runs == 6


def test_cache_is_bounded_and_drops_what_was_not_used() -> None:
    """The least recently used form is traced again; those in use are kept."""
    step = jit(lambda x: x + 1, cache_size=2)
    one, two, three = np.ones(1), np.ones(2), np.ones(3)
    for x in (one, two, one, three, one):
        step(x)
    assert step.stats.traces == 3
    step(two)
    assert step.stats.traces == 4
    step.clear()
    step(two)
    assert step.stats.traces == 5


def test_lower_compiles_ahead() -> None:
    """`lower` traces and compiles for given arguments, and the first call runs that."""
    step = jit(gt.grad(cube))
    program = step.lower(X)
    assert step.program is program
    assert step.stats.runs == 0
    np.testing.assert_allclose(step(X + 1), 3 * (X + 1) ** 2)
    assert_compiled(step)
    assert step.lower(X) is program


def test_program_shows_the_users_lines() -> None:
    """Every instruction of the forward and the backward pass prints with the expression it came from."""

    def loss(x: Any) -> Any:
        return np.sum(np.tanh(x) * 3.0)

    step = jit(gt.grad(loss))
    step(X)
    assert "tanh(%0)" in str(step.program)
    assert str(step.program).count("np.tanh(x)") >= 2
    assert all(i.location.file == __file__ for i in step.program.instructions)


def test_decorated_methods_bind() -> None:
    """A compiled function in a class is a method."""
    assert isinstance(Model().step, types.MethodType)
    assert Model.step.__name__ == "step"


def test_threads() -> None:
    """Eight threads that call and compile at once all get the right answers."""
    function = gt.value_and_grad(lambda x, n: np.sum(np.sin(x) ** n * np.exp(-x)))
    step = jit(function, cache_size=8)
    failures: list[str] = []
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        start.wait()
        for _ in range(25):
            size, n = int(generator.choice([1, 5, 3000])), int(generator.integers(1, 4))
            x = generator.normal(size=size)
            (value, gradient), (expected, slope) = step(x, n), function(x, n)
            if not np.isclose(value, expected, rtol=1e-12) or not np.allclose(gradient, slope, rtol=1e-12):
                failures.append(f"{seed}: size {size}, n {n}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert step.stats.uncompiled == 0


class TestProgramThatFails:
    """A program that fails says so: it is never tried again in silence."""

    def test_where_the_function_does_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The function's answer, one warning, and no second attempt."""
        step = jit(lambda x: np.sin(x) * 2.0)
        np.testing.assert_allclose(step(X), 2.0 * np.sin(X))

        def broken(*_: Any) -> Any:
            raise FloatingPointError("broken on purpose")

        monkeypatch.setattr(type(step._latest), "run", broken)
        with pytest.warns(JitWarning, match="broken on purpose"):
            np.testing.assert_allclose(step(X), 2.0 * np.sin(X))
        np.testing.assert_allclose(step(X + 1.0), 2.0 * np.sin(X + 1.0))
        assert step.stats.uncompiled == 2

    def test_where_the_function_does_too(self) -> None:
        """Its error is the function's own, and the program stays: other arguments may do."""
        step = jit(lambda x, i: x[i] * 2.0)
        step(X, np.array([0, 1]))
        with pytest.raises(IndexError, match="out of bounds"):
            step(X, np.array([0, 7]))
        np.testing.assert_allclose(step(X, np.array([1, 2])), 2.0 * X[1:])
        assert step.stats.traces == 1


def test_a_program_tells_how_it_is_run() -> None:
    """The last line of a printed program counts what was recorded, native groups and kernels by their names."""
    step = jit(lambda x: np.cumsum(np.exp(x) * 1.0) + 2.0)
    step(np.ones(3))
    last = str(step.program).splitlines()[-1]
    assert last.startswith(f"made     of {len(step.traced)} recorded instructions; run as ")
    assert "native group" in last or "NumPy kernel" in last
    assert repr(step.program) == str(step.program)
    nothing = jit(lambda x: x)
    assert str(nothing.lower(np.ones(2))).endswith("run as nothing: there is nothing to compute")


@pytest.mark.production
def test_the_shortest_way_in_is_made_for_the_second_call() -> None:
    """A single run does without it; from the second one on, groups between kernels are entered without Python."""
    step = jit(lambda x: np.linalg.qr(np.exp(x) + 1.0)[1] * 2.0 + 1.0)
    x = np.arange(4.0).reshape(2, 2)
    first = step(x)
    runner = step._last().runner
    groups = dict(runner.groups)
    assert all(runner.scope[name] is call for name, call in groups.items())
    assert groups
    second = step(x)
    assert not runner.groups
    assert all(type(runner.scope[name]) is types.BuiltinFunctionType for name in groups)
    np.testing.assert_array_equal(first, second)


@jit
def doubled(x: Any) -> Any:
    return x * 2.0


class Scaled:
    def __init__(self) -> None:
        self.scale = np.array(2.0)
        self.step = jit(self.forward, static_argnums=1)

    def forward(self, x: Any, count: int) -> Any:
        return x * self.scale * count


def test_compiled_functions_are_copied_and_pickled_without_their_code() -> None:
    """Copies compile for themselves, a deep copy reads its own object; pickles hold names, not native code."""
    one = Scaled()
    assert one.step(np.ones(1), 3) == 6.0
    other = copy.deepcopy(one)
    other.scale[...] = 5.0
    assert (one.step(np.ones(1), 3), other.step(np.ones(1), 3)) == (6.0, 15.0)
    assert other.step.stats.traces == 1
    assert copy.copy(one.step)(np.ones(1), 3) == 6.0
    assert doubled(np.ones(1)) == 2.0
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert pickle.loads(pickle.dumps(jit(sine)))(np.zeros(1)) == 0.0


def sine(x: Any) -> Any:
    return np.sin(x)


def wrap(function: Any) -> Any:
    """As a decorator of the user does."""

    @functools.wraps(function)
    def wrapped(x: Any) -> Any:
        return function(x)

    return wrapped


@pytest.mark.parametrize("transform", [gt.grad, gt.value_and_grad, gt.jacfwd, gt.hessian, gt.vmap, wrap])
def test_transforms_of_a_compiled_function_that_has_run_are_compiled(transform: Any) -> None:
    """What wraps a compiled function does not carry its executables along, which a trace could not compare."""

    def energy(x: Any) -> Any:
        return np.sum(np.sin(x) * x)

    compiled = jit(energy)
    for _ in range(3):
        compiled(X)
    x = np.stack([X, X + 1]) if transform is gt.vmap else X
    step = jit(transform(compiled))
    for shift in range(2):
        found, expected = step(x + shift), transform(energy)(x + shift)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert_compiled(step)


class Node(NamedTuple):
    """A named tuple that a function makes of its argument."""

    kind: str
    value: Any


def test_a_named_tuple_that_a_function_makes() -> None:
    """The fields of the class are no state: a function that makes named tuples and reads them is compiled."""

    def total(x: Any) -> Any:
        nodes = [Node("left", x[0]), Node("right", x[1])]
        return sum(node.value * (2.0 if node.kind == "left" else 3.0) for node in nodes)

    compiled = jit(gt.grad(total))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(compiled(np.array([1.0, 2.0])), [2.0, 3.0])
