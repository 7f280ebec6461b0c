"""Broadcasts of the kernel's operations: each place in the user's code is diagnosed once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core import batch
from gradtape.core.explain_hooks import suspect
from gradtape.core.graph import Node
from gradtape.core.location import is_library
from gradtape.explain.detectors.broadcast import Finding, diagnose_broadcast
from gradtape.explain.detectors.broadcast_places import diagnose_once
from gradtape.explain.model.record import Shape
from gradtape.explain.source.active_ops import interpreted_op
from gradtape.explain.source.axes import is_outer
from gradtape.explain.source.expression import UserExpression


def check_broadcast(node: Node, inputs: Sequence[Any]) -> None:
    """Diagnose an operation on two operands whose result has another shape than its (first) tracked operand."""
    x, y = inputs
    left: Shape = x.shape if hasattr(x, "shape") else np.shape(x)
    right: Shape = y.shape if hasattr(y, "shape") else np.shape(y)
    if not left or not right or node.code is None:
        return
    shapes = left, right
    waiting = diagnose_once(node, node.code, node.offset, shapes, lambda: _diagnose(node, inputs, shapes))
    if waiting is not None:
        suspect(node, waiting)


def _diagnose(node: Node, inputs: Sequence[Any], shapes: tuple[Shape, Shape]) -> Finding | None:
    if _is_inside_vmap():
        inputs = _operands_of_one_example(node, inputs)
        left, right = (tuple(getattr(x, "shape", ())) for x in inputs)
        if not is_outer(left, right):
            return None
        shapes = left, right
    return diagnose_broadcast(node, inputs, shapes, UserExpression.present)


def _is_inside_vmap() -> bool:
    """Whether `vmap` runs this operation on a whole batch, whose axis is not in the user's code."""
    frame: Any = sys._getframe(2)
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_code.co_filename == batch.__file__:
            return True
        frame = frame.f_back
    return False


def _operands_of_one_example(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """The operands of an operation inside `vmap` with the shapes that one example has, as in the user's code."""
    found = interpreted_op()
    return found.inputs if found is not None and found.op is node.op and len(found.inputs) == 2 else (None, None)
