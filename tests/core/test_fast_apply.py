"""The fast paths for one and two inputs give the result, the node and the cut that `apply` gives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import ops
from gradtape.core.fast_apply import fast_binary, fast_unary, is_plain
from gradtape.core.graph import LIFTED_NODE, Cut, Node
from gradtape.core.operation import NO_PARAMS, Op, apply
from gradtape.core.rules import TABLE
from gradtape.core.saved_arrays import LockedArray
from gradtape.core.tensor import Tensor

TWO = [ops.add, ops.subtract, ops.multiply, ops.divide, ops.power, ops.matmul, ops.maximum, ops.arctan2]


def _facts(result: Any) -> list[Any]:
    """All that a result and its node hold, save the order, which is never the same twice."""
    node: Node = result._node
    parents = [
        (p.reason, [s() for s in p.sources]) if isinstance(p, Cut) and p.reason == "another tape" else p
        for p in node.parents
    ]
    facts: list[Any] = [type(result), result._array, type(node), node.op, node.params, parents, node.bits]
    if isinstance(node, Cut):
        return [*facts[:5], node.reason, [source() for source in node.sources]]
    return [*facts, node.inputs, node.out is None, node.shape, node.dtype, node.recording, node.extra is None]


def _same(fast: Any, general: Any) -> None:
    for fact, other in zip(_facts(fast), _facts(general), strict=True):
        if isinstance(fact, np.ndarray | np.generic):
            np.testing.assert_array_equal(fact, other)
            assert fact.dtype == other.dtype
        elif isinstance(fact, tuple):
            for value, wanted in zip(fact, other, strict=True):
                assert isinstance(value, LockedArray) == isinstance(wanted, LockedArray)
                held, expected = (getattr(v, "array", v) for v in (value, wanted))
                assert held is expected or np.array_equal(held, expected)
        else:
            assert fact == other


@pytest.fixture(
    params=["tracked", "constant", "variable", "at a variable", "variable on no tape", "cut", "muted", "another tape"]
)
def operand(request: pytest.FixtureRequest) -> Iterator[Callable[[], Any]]:
    """Tensors in every state that an operation can meet."""
    data = np.array([[0.3, 0.5], [0.7, 0.2]])
    tape = gt.GradientTape(persistent=True)
    variable = gt.Variable(data)
    if request.param in ("variable", "at a variable"):
        with tape:  # a value that a rule has saved is a tensor where the variable is
            yield lambda: variable if request.param == "variable" else Tensor(data, variable._node)
    elif request.param == "another tape":
        with tape:
            other = tape.watch(gt.tensor(data)) * 1.0
        yield lambda: other
    elif request.param == "muted":
        x = gt.tensor(data, requires_grad=True)
        with gt.no_grad():
            yield lambda: x
    else:
        makers: dict[str, Callable[[], Any]] = {
            "tracked": lambda: gt.tensor(data, requires_grad=True),
            "constant": lambda: gt.tensor(data),
            "variable on no tape": lambda: gt.Variable(data),
            "cut": lambda: gt.tensor(data, requires_grad=True).detach() * 2.0,
        }
        yield makers[request.param]


@pytest.mark.parametrize("op", [ops.sin, ops.exp, ops.negative, ops.square, ops.sqrt], ids=lambda op: op.name)
def test_one_input(op: Op, operand: Callable[[], Any]) -> None:
    """One input in any state: the same result, node and cut as through `apply`."""
    x = operand()
    _same(fast_unary(op, 1)(x), apply(op, (x,), NO_PARAMS))


@pytest.mark.parametrize("op", TWO, ids=lambda op: op.name)
def test_two_inputs(op: Op, operand: Callable[[], Any]) -> None:
    """Two inputs, one or both in any state: the same result, node and cut as through `apply`."""
    fast = fast_binary(op, 1, lambda x, y: pytest.fail("a plain operand was handed on"))
    x, y = operand(), gt.tensor([[0.4, 0.9], [0.1, 0.6]], requires_grad=True)
    for operands in ((x, y), (y, x), (x, x)):
        _same(fast(*operands), apply(op, operands, NO_PARAMS))
    array = np.array([[0.4, 0.9], [0.1, 0.6]])
    for operands in ((x, array), (array, x)):
        _same(fast(*operands), apply(op, operands, NO_PARAMS))
    if op is not ops.matmul:
        for number in (2.5, 2, 0.0):
            if op is not ops.divide or number:
                _same(fast(x, number), apply(op, (x, number), NO_PARAMS))
            if op is not ops.power or number:
                _same(fast(number, x), apply(op, (number, x), NO_PARAMS))


def test_other_kinds_are_handed_on() -> None:
    """NumPy's numbers, lists and tensors of an interpreter are not plain, whichever side they are on."""
    handed: list[Any] = []
    fast = fast_binary(ops.add, 1, lambda x, y: handed.append((x, y)))
    x = gt.tensor([1.0, 2.0])
    for other in (np.float32(1), [1.0, 2.0], True, 1j, "text"):
        fast(x, other)
        fast(other, x)
    fast(Tensor(np.ones(2), LIFTED_NODE), 1.0)
    gt.vmap(lambda row: [fast(row, 1.0), fast(x, row), row][2])(np.ones((3, 2)))
    assert len(handed) == 13


def test_float32_meets_a_number() -> None:
    """A Python number does not widen, whether the tensor is tracked or not."""
    for x in (gt.tensor([1.0], dtype="float32"), gt.tensor([1.0], dtype="float32", requires_grad=True)):
        assert (x * 2.5).dtype == (2.5 * x).dtype == np.float32


def test_forward_accumulators_are_told() -> None:
    """A result of a fast path has a tangent too."""
    x = gt.tensor([0.3, 0.5])
    with gt.ForwardAccumulator(x, gt.tensor([1.0, 1.0])) as accumulator:
        y = np.sin(x) * x
    np.testing.assert_allclose(accumulator.jvp(y).numpy(), np.cos([0.3, 0.5]) * [0.3, 0.5] + np.sin([0.3, 0.5]))


def test_every_plain_operation_has_one() -> None:
    """All operations of the table that can have fast paths have them, and no others."""
    assert sum(op.fast_unary is not None for op in TABLE.values()) > 50
    for op in TABLE.values():
        assert (op.fast_unary is not None) == is_plain(op)


@pytest.mark.parametrize("locations", [True, False])
def test_lines(monkeypatch: pytest.MonkeyPatch, locations: bool) -> None:
    """The line is that of the operator, the reflected operator, the function and NumPy's function, or none at all."""
    monkeypatch.setattr(gt.config, "locations", locations)
    x = gt.tensor(0.5, requires_grad=True)
    results = [x * 2.0, 2.0 * x, -x, gt.sin(x), np.sin(x), x + x]
    line = sys._getframe().f_lineno - 1
    for result in results:
        code = result._node.code
        assert code is (sys._getframe().f_code if locations else None)
        if locations:
            assert result._node.location.line == line


def test_refusals_are_explained() -> None:
    """A kernel that refuses its operands is explained as everywhere."""
    x, y = gt.tensor(np.ones(2), requires_grad=True), gt.tensor(np.ones(3))
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        x * y
    with pytest.raises(TypeError):
        gt.sin(Tensor(np.array(["text"])))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: x * y,
        lambda x, y: y * x,
        lambda x, y: np.multiply(x, y),
        lambda x, y: gt.multiply(x, y),
        lambda x, y: x.detach() * y,
    ],
)
def test_python_objects_are_refused(call: Callable[[Any, Any], Any]) -> None:
    """No way to call an operation makes a tensor of Python objects."""
    with pytest.raises(gt.DtypeError, match=r"Python objects.*\n(.*\n)*.*astype\(float\)"):
        call(gt.tensor([1.0, 2.0], requires_grad=True), np.array([1, 2], object))


def test_keywords_of_ufuncs() -> None:
    """gradtape's names take NumPy's keywords, and a plain array does not take what is tracked."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(gt.DetachError, match="plain array"):
        gt.add(x, 1.0, out=np.zeros(2))
    out = gt.tensor([7.0, 7.0])
    gt.add(x, 1.0, where=np.array([True, False]), out=out)
    np.testing.assert_array_equal(out.numpy(), [2.0, 7.0])
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1.0, 0.0])
    plain = np.zeros(2)
    assert gt.add(np.ones(2), 1.0, out=plain) is plain
