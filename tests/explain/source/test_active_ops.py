"""The operation whose kernel is running, and the one that an interpreter executes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import operation
from gradtape.core.batch import batch_elementwise
from gradtape.core.fast_apply import fast_binary, fast_unary
from gradtape.core.operation import Op, apply
from gradtape.explain.source.active_ops import ActiveOp, interpreted_op, op_of_running_kernel

FOUND: list[ActiveOp | None] = []
# compiled as a file of the library, because the search ends at the first frame of the user's
KERNEL = """
def kernel(x, y=0.0, **params):
    FOUND[:] = [op_of_running_kernel(), interpreted_op()]
    return x + y
"""
KERNELS: dict[str, Any] = {
    "FOUND": FOUND,
    "op_of_running_kernel": op_of_running_kernel,
    "interpreted_op": interpreted_op,
}
exec(compile(KERNEL, gt.__file__, "exec"), KERNELS)
ADD = Op("add", KERNELS["kernel"], reverse=lambda g, node, out, inputs: (g, g), batch=batch_elementwise)
X, Y = gt.tensor(np.ones(3)), gt.tensor(np.zeros(3))


@pytest.mark.parametrize(
    ("call", "inputs", "params"),
    [
        (lambda: apply(ADD, (X, Y), {}), (X, Y), {}),
        (lambda: apply(ADD, (X,), {"axis": 0}), (X,), {"axis": 0}),
        (lambda: fast_unary(ADD, 1)(X), (X,), {}),
        (lambda: fast_binary(ADD, 1)(X, Y), (X, Y), {}),
    ],
    ids=["apply", "apply with parameters", "one input", "two inputs"],
)
def test_every_way_to_execute_an_operation(call: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> None:
    """The operation is found with its inputs and parameters, whichever function executes it."""
    FOUND.clear()
    call()
    running, interpreted = FOUND
    assert interpreted is None
    assert running is not None
    assert running.op is ADD
    assert all(found is given for found, given in zip(running.inputs, inputs, strict=True))
    assert running.params == params


def test_inside_vmap() -> None:
    """Inside vmap the kernel runs on the whole batch, and the interpreted operation is that on one example."""
    FOUND.clear()
    gt.vmap(lambda x: apply(ADD, (x, Y), {}))(gt.tensor(np.ones((2, 3))))
    running, interpreted = FOUND
    assert running is not None
    assert running.inputs[0].shape == (2, 3)
    assert interpreted is not None
    assert interpreted.op is ADD
    assert interpreted.inputs[0].shape == (3,)


def test_nested_vmap() -> None:
    """Of several interpreters the outermost executes the operation as the user has written it."""
    FOUND.clear()
    gt.vmap(gt.vmap(lambda x: apply(ADD, (x, Y), {})))(gt.tensor(np.ones((4, 2, 3))))
    assert FOUND[1] is not None
    assert FOUND[1].inputs[0].shape == (3,)


def test_nothing_is_noted_afterwards() -> None:
    """The note of an interpreter ends with the operation, also where that fails."""
    with pytest.raises(gt.ShapeError):
        gt.vmap(lambda x: x + Y)(gt.tensor(np.ones((2, 4))))
    assert operation.interpreted.ops == []


def test_operations_of_the_user_inside_an_interpreted_one() -> None:
    """What the user's function computes for an interpreted operation is an expression of its own."""
    seen = []

    def kernel(x: Any) -> Any:
        seen.append(interpreted_op())
        return x + 1.0

    op = Op("user's", kernel, reverse=lambda g, node, out, inputs: (g,), batch=batch_elementwise)
    gt.vmap(lambda x: apply(op, (x,), {}))(gt.tensor(np.ones((2, 3))))
    assert seen == [None]
