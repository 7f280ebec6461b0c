"""A call as one operation: rules from flat lists of arrays to flat lists of arrays, one by one or for a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import recording
from gradtape.core.batch import BatchLevel, BatchTensor, unbatch
from gradtape.core.graph import Node, Spec
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.saved_arrays import LockedArray, guard
from gradtape.core.tensor import Tensor
from gradtape.transforms.custom.arrays import Arrays, ArrayTemplate, is_recorded, zeros_like
from gradtape.transforms.custom.errors import RuleCall
from gradtape.transforms.gradients import vjp


class SingleOperation:
    """A call that is recorded as one operation.

    It goes along as the last input, so that what it keeps for the walk is let go of like every other saved value.
    """

    needs_inputs = True
    explains_numbers = False  # whether it reports itself where its derivative is not finite

    def __init__(self, call: RuleCall) -> None:
        self.call = call
        self.title = call.name

    def applied(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The results that are arrays, as tensors on the tapes that `inputs` are on."""
        last = len(inputs)
        needed = frozenset(range(last + 1)) if self.needs_inputs else frozenset({last})
        op = Op(
            self.title,
            lambda *inputs: inputs[-1].kernel(*inputs[:-1]),
            reverse=lambda g, node, out, inputs: [*inputs[-1].reverse(g, node, inputs[:-1]), None],
            forward=lambda node, out, inputs, tangents: inputs[-1].forward(tangents[:-1], node, inputs[:-1]),
            batch=lambda op, flags, values, params: values[-1].batch(flags[:-1], values[:-1]),
            needs=(needed,) * (last + 1),
            outputs=True,
            kind="custom",
        )
        results: tuple[Any, ...] = apply(op, (*inputs, self), {})
        return results


class ResultForm(NamedTuple):
    """What one run of a function returned, without the arrays."""

    out: ArrayTemplate
    specs: tuple[Spec, ...]  # the shapes and dtypes of the results that are arrays
    residuals: Any  # a template; or the function that computes the gradient
    opaque: bool  # whether the residuals hold something that arrays cannot be taken out of, such as a function


class KeptValues(NamedTuple):
    """What a rule keeps for its derivative: the arrays among the residuals, and how to put them back."""

    saved: Arrays | None  # None: the function has to run again
    form: ResultForm


class CallMemory(NamedTuple):
    """What a call keeps; `below`, when its inputs were of a batch, is what the call for the whole batch keeps."""

    kept: KeptValues
    guards: Sequence[LockedArray]
    below: CallMemory | None = None

    def check(self, node: Node) -> None:
        """Raise if an array of the user's was changed since it was kept."""
        for guarded in self.guards:
            guarded.check(node)
        if self.below is not None:
            self.below.check(node)

    def saved(self, inputs: Sequence[Any]) -> Arrays | None:
        """The arrays that were kept, of the batches that the inputs are of."""
        if self.below is None:
            return self.kept.saved
        level = max((x.level for x in inputs if isinstance(x, BatchTensor)), key=lambda level: level.depth)
        assert isinstance(level, BatchLevel)
        values = [x.value if isinstance(x, BatchTensor) and x.level is level else x for x in inputs]
        return residuals_of_example(self.below.saved(values), self.kept.form, level)


def residuals_of_example(saved: Arrays | None, form: ResultForm, level: BatchLevel) -> Arrays | None:
    """The residuals of one example, from those of the batch; None where that cannot be told."""
    return None if saved is None or form.opaque else [BatchTensor(x, level) for x in saved]


class CustomRule(SingleOperation, ABC):
    """The rule of one call, in flat form. A subclass has `run`, and `pull` or `push`: each is the other's transpose."""

    memory: CallMemory

    def __init__(self, call: RuleCall) -> None:
        super().__init__(call)
        self.state = recording.current()

    @abstractmethod
    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        """The results that are arrays, and what the derivative needs."""

    def pull(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        """The cotangents of the inputs."""
        at = [zeros_like(x) for x in inputs]
        return transpose_linear(lambda tangents: self.push(inputs, kept, tangents), at, cotangents)

    def push(self, inputs: Arrays, kept: KeptValues, tangents: Arrays) -> Arrays:
        """The tangents of the results."""
        at = [np.zeros(*spec) for spec in kept.form.specs]
        return transpose_linear(lambda cotangents: self.pull(inputs, kept, cotangents), at, tangents)

    # -- as an operation

    def kernel(self, *arrays: Any) -> tuple[Any, ...]:
        """Run on bare arrays, while the tapes of the call are on: what they record cannot have come from the inputs."""
        try:
            with recording.during(self.state):
                results, kept = self.run(list(arrays))
                made = [*results, *(kept.saved or ())]
                if any(is_recorded(x) for x in results) or any(isinstance(x, Lifted) for x in made):
                    raise self.call.closed_over()
                guards = self._guarded(kept, arrays)
        except Exception as error:
            raise _RuleKernelError(error) from error
        saved = [x._array if isinstance(x, Tensor) else x for x in kept.saved or ()]
        self.memory = CallMemory(KeptValues(saved, kept.form), guards)
        return tuple([x._array if isinstance(x, Tensor) else x for x in results])

    def _guarded(self, kept: KeptValues, arrays: tuple[Any, ...]) -> list[LockedArray]:
        """Guards for the residuals that are arrays of the user's own; those among the inputs have theirs."""
        given = {id(array) for array in arrays}
        rows = zip(kept.saved, kept.form.residuals.were_tensors, strict=True) if kept.saved else ()
        return [
            guard(x) for x, was_tensor in rows if isinstance(x, np.ndarray) and not was_tensor and id(x) not in given
        ]

    def reverse(self, g: Any, node: Node, inputs: tuple[Any, ...]) -> Arrays:
        """The cotangents of the inputs, by `pull`, with what the first run kept."""
        return self.pull(list(inputs), self._recalled(node, inputs), list(g))

    def forward(self, tangents: Sequence[Any], node: Node, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The tangents of the results, by `push`; inputs without a tangent get zeros."""
        filled = [zeros_like(x) if tangent is None else tangent for x, tangent in zip(inputs, tangents, strict=True)]
        return tuple(self.push(list(inputs), self._recalled(node, inputs), filled))

    def batch(self, flags: Sequence[bool], values: Sequence[Any]) -> tuple[Any, ...]:
        """Run the rule for all examples of a batch as one operation."""
        whole = BatchedRule(self, flags)
        results = whole.applied(values)
        self.memory = CallMemory(whole.memory.kept, (), whole.memory)
        return results

    def _recalled(self, node: Node, inputs: tuple[Any, ...]) -> KeptValues:
        """What was kept; without the arrays where somebody records the inputs: these have to be made from them then."""
        self.memory.check(node)
        form = self.memory.kept.form
        return KeptValues(None if any(is_recorded(x) for x in inputs) else self.memory.saved(inputs), form)


class BatchedRule(CustomRule):
    """The rule for a whole batch at once, from the rule for one example."""

    def __init__(self, one: CustomRule, flags: Sequence[bool]) -> None:
        super().__init__(one.call)
        self.state = one.state
        self.one = one
        self.flags = list(flags)

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        """Run the rule of one example on tensors that stand for all of them."""
        level = self._level(inputs)
        results, (saved, form) = self.one.run(self._lifted(inputs, level))
        return [unbatch(x, level) for x in results], KeptValues([unbatch(x, level) for x in saved or ()], form)

    def pull(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        """Pull the cotangents of all examples back at once; shared inputs get the sum."""
        level = self._level(inputs)
        each = KeptValues(residuals_of_example(kept.saved, kept.form, level), kept.form)
        found = self.one.pull(self._lifted(inputs, level), each, [BatchTensor(x, level) for x in cotangents])
        rows = [None if x is None else unbatch(x, level) for x in found]
        # what is the same for all examples collects the cotangents of all of them
        return [x if x is None or flag else x.sum(axis=0) for x, flag in zip(rows, self.flags, strict=True)]

    def push(self, inputs: Arrays, kept: KeptValues, tangents: Arrays) -> Arrays:
        """Push the tangents of all examples through at once."""
        level = self._level(inputs)
        each = KeptValues(residuals_of_example(kept.saved, kept.form, level), kept.form)
        found = self.one.push(self._lifted(inputs, level), each, self._lifted(tangents, level))
        return [None if x is None else unbatch(x, level) for x in found]

    def _level(self, inputs: Arrays) -> BatchLevel:
        return BatchLevel(next(x.shape[0] for x, flag in zip(inputs, self.flags, strict=True) if flag))

    def _lifted(self, values: Arrays, level: BatchLevel) -> Arrays:
        return [BatchTensor(x, level) if flag else x for x, flag in zip(values, self.flags, strict=True)]


class _RuleKernelError(Exception):
    """An error of the user's function on its way out of the kernel, where NumPy's errors are given other words."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def transpose_linear(linear: Callable[[Arrays], Arrays], at: Arrays, weights: Arrays) -> Arrays:
    """What the transpose of a linear function of lists makes of `weights`; it is recorded at the zeros `at`.

    Integers stay where they are, and have None for an answer.
    """
    smooth = [index for index, x in enumerate(at) if x.dtype.kind in "fc"]
    connected: list[int] = []

    def results(*moving: Any) -> Arrays:
        given = dict(zip(smooth, moving, strict=True))
        answers = linear([given.get(index, x) for index, x in enumerate(at)])
        connected.extend(index for index, x in enumerate(answers) if isinstance(x, Tensor))
        return [answers[index] for index in connected]

    _, pull_back = vjp(results, *[at[index] for index in smooth])
    found = dict(zip(smooth, pull_back([weights[index] for index in connected]), strict=True))
    return [found.get(index) for index in range(len(at))]


def apply_rule(rule: CustomRule, arrays: Arrays) -> Any:
    """The result of a call, recorded as one operation."""
    results = apply_flat(rule, arrays)
    return rule.memory.kept.form.out.fill(results)


def apply_flat(rule: CustomRule, arrays: Arrays) -> tuple[Any, ...]:
    """The arrays that a call returns, recorded as one operation. An error of the user's function is raised as it is."""
    try:
        return rule.applied(arrays)
    except _RuleKernelError as carried:
        failure = carried.error
    try:
        raise failure  # outside of the except clause above: the error is the user's own, with nothing added
    finally:
        del failure  # it holds this frame
