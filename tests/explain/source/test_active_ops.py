"""The operations on Python's stack: `apply` and the fast paths keep them in local variables of known names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.fast_apply import fast_binary, fast_unary
from gradtape.core.operation import Op, apply
from gradtape.explain.source.active_ops import ActiveOp, active_ops

FOUND: list[ActiveOp] = []
KERNELS: dict[str, Any] = {"FOUND": FOUND, "active_ops": active_ops}
# compiled as a file of the library, because the search ends at the first frame of the user's
exec(
    compile("def kernel(x, y=0.0, **params):\n    FOUND[:] = active_ops()\n    return x + y\n", gt.__file__, "exec"),
    KERNELS,
)
ADD = Op("add", KERNELS["kernel"], reverse=lambda g, node, out, inputs: (g, g))
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
    assert FOUND
    assert FOUND[0].op is ADD
    assert all(found is given for found, given in zip(FOUND[0].inputs, inputs, strict=True))
    assert FOUND[0].params == params


def test_inside_vmap() -> None:
    """Inside vmap the outermost is the operation on one example."""
    FOUND.clear()
    gt.vmap(lambda x: apply(ADD, (x, Y), {}))(gt.tensor(np.ones((2, 3))))
    assert FOUND[-1].inputs[0].shape == (3,)
