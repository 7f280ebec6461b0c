"""Interpreters: which operations they are given in the place of kernels and tapes."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.core import recording
from gradtape.core.graph import LIFTED_NODE
from gradtape.core.operation import Level, Op, apply, interpreted
from gradtape.core.recording import Recording
from gradtape.core.tensor import Tensor


class Listing(Level):
    """Notes the operations that it is given, and answers each with its own number."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[str] = []
        self.running: list[str] = []

    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        self.given.append(op.name)
        self.running = [outer.name for outer, _, _ in interpreted.ops]
        return Tensor(np.array(100.0 + len(self.given)), LIFTED_NODE)


def test_operations_on_a_tape_that_is_off_go_to_the_interpreter() -> None:
    """What was on a tape is not cut while an interpreter stands in for it; constants are computed as always."""
    x = gt.tensor(2.0, requires_grad=True)
    level = Listing()
    with recording.during(Recording((), ambient=False, interpreter=level)):
        assert gt.tensor(3.0) * 2.0 == 6.0
        assert level.given == []
        found = apply(gt.ops.multiply, (x, 2.0), {})
    assert level.given == ["multiply"]
    assert found._array == 101.0


def test_no_grad_keeps_operations_from_the_interpreter() -> None:
    """There the value is wanted without a gradient, so that it is computed, and cut."""
    x = gt.tensor(2.0, requires_grad=True)
    level = Listing()
    with recording.during(Recording((), interpreter=level)), gt.no_grad():
        found = x * 5.0
    assert level.given == []
    assert float(found) == 10.0
    assert not found.requires_grad


def test_tensors_of_no_level_go_to_the_interpreter_that_is_on() -> None:
    """It is told which operation runs while it does, and not afterwards."""
    level = Listing()
    lifted = Tensor(np.array(1.0), LIFTED_NODE)
    with recording.during(Recording((), interpreter=level)):
        apply(gt.ops.sin, (lifted,), {})
    assert level.given == ["sin"]
    assert level.running == ["sin"]
    assert interpreted.ops == []
