"""checkpoint: keep the inputs of a call only, and run it again on the walk back."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.backprop import release, walk
from gradtape.core.batch import BatchTensor, batch_elementwise
from gradtape.core.explain_hooks import NanOrigins, is_finite
from gradtape.core.forward import push_tangents
from gradtape.core.graph import AMBIENT, LIFTED, VARIABLE, Cut, Node, next_order, with_numbers
from gradtape.core.kept_state import bind_state
from gradtape.core.location import Location
from gradtape.core.operation import Lifted, Op, apply, attach
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.saved_arrays import LockedArray, guard
from gradtape.core.side_effects import StateBefore
from gradtape.core.tape import GradientTape
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.errors import DetachError, RuleError
from gradtape.explain import messages
from gradtape.transforms.custom.arrays import (
    Arrays,
    ArrayTemplate,
    Function,
    array_if_untracked,
    is_array,
    is_recorded,
    split_arrays,
)
from gradtape.transforms.custom.errors import RuleCall, definition_of
from gradtape.transforms.custom.frontier import interior_results, nodes_before_run
from gradtape.transforms.custom.functions import split_results
from gradtape.transforms.custom.passed_containers import PassedContainers
from gradtape.transforms.custom.rules import CustomRule, KeptValues, ResultForm, SingleOperation, apply_rule
from gradtape.transforms.gradients import jvp, vjp


def checkpoint(function: Function) -> Function:
    """`function`, of whose run only the arguments are kept: the walk back runs it again to get the rest.

    Gradients flow to the arguments and to whatever else the function reads: variables, watched tensors, tensors that
    require a gradient. The second run has to give what the first gave; that is checked, so random numbers are drawn
    outside and passed in. While the function runs, either time, its intermediate results are in memory.

    Where it would not help or cannot be done the function just runs: with nothing recorded, while a
    `ForwardAccumulator` is on, inside `vmap` if the function reads tracked tensors that are not its arguments, and if
    it writes to tensors, lists, dictionaries or dataclasses that are its arguments: a second run would not start from
    what the first was given. Inside `vmap` and `jit` it just runs if it changes anything else that outlives the call.

    >>> import numpy as np, gradtape as gt
    >>> @gt.checkpoint
    ... def layer(x, w):
    ...     return np.tanh(x @ w)
    >>> def loss(w, x):
    ...     for _ in range(100):        # 100 times x is kept, and nothing of what is inside the layer
    ...         x = layer(x, w)
    ...     return np.sum(x)
    >>> gt.grad(loss)(0.5 * np.eye(2), np.ones((3, 2))).shape
    (2, 2)
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Lifted) for x in leaves((args, kwargs))):
            return _checkpoint_in_batch(function, args, kwargs)
        return _checkpoint(function, args, kwargs)

    return wrapped


SAME = Op(
    "identity",
    lambda x: x,
    reverse=lambda g, node, out, inputs: (g,),
    forward=lambda node, out, inputs, tangents: tangents[0],
    batch=batch_elementwise,
)
"""The operation that gives an array another place in the graph."""


def copy_to_new_node(value: Tensor) -> Tensor:
    """The same array at a place of its own in the graph, one step from where it was."""
    place: Tensor = apply(SAME, (value,), {})
    return place


def _checkpoint(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run `function` recorded as ever; then put one node in place of all that it recorded, and let that go."""
    state = recording.current()
    mask = state.bits | (VARIABLE if state.variables else 0)
    flat = leaves((args, kwargs))
    segment = CheckpointedCall(function, (args, kwargs), flat)
    # a new place for every argument, to tell its use from that of the same tensor by another way
    places = {index: copy_to_new_node(flat[index]) for index in segment.moving}
    before = {index: place._node for index, place in places.items()}
    start = next_order()
    result = segment.run([places.get(index, x) for index, x in enumerate(flat)])
    written = [index for index, place in places.items() if place._node is not before[index]]
    for index in written:
        flat[index][...] = places[index]
    if segment.passed.write_back({id(place): flat[index] for index, place in places.items()}) or written:
        return segment.passed.original(result)
    outs = leaves(result)
    segment.outputs = interior_results(outs, start, mask)
    nodes = [outs[index]._node for index in segment.outputs]
    frontier = list(nodes_before_run(nodes, start, mask))
    bits = functools.reduce(lambda bits, node: bits | node.bits, [*nodes, *frontier], 0)
    if not nodes or bits & (LIFTED | state.forward):
        return result
    arguments = {place._node: index for index, place in places.items()}
    segment.keep(
        used=[arguments[node] for node in frontier if node in arguments],
        others=[node for node in frontier if node not in arguments],
        results=[outs[index]._array for index in segment.outputs],
    )
    parents = [flat[index]._node for index in segment.used] + segment.others
    for index, out in zip(
        segment.outputs, segment.applied([placeholder_tensor(node) for node in parents]), strict=True
    ):
        outs[index] = out
    return rebuild(result, outs)


def placeholder_tensor(node: Node) -> Tensor:
    """A tensor at `node` of which only the place, shape and dtype count: its array is a single zero."""
    return Tensor(np.broadcast_to(np.zeros((), node.dtype), node.shape), node)


class Fingerprint:
    """Enough of an array to tell it from another run's: shape, dtype, evenly spaced elements, and the sum.

    Two runs of the same code may differ in the last digits (a library that splits its sums by alignment or by threads),
    so values are compared to half the digits of their dtype.
    """

    SAMPLES = 256

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.shape, self.dtype = array.shape, array.dtype
        flat = array.reshape(-1)
        self.samples = flat[:: max(1, -(-flat.size // self.SAMPLES))].copy()
        with np.errstate(all="ignore"):
            self.total = flat.sum()
            self.size = float(np.sqrt(np.vdot(flat, flat).real * flat.size))  # at least the sum of absolute values

    def agrees(self, other: Fingerprint) -> bool:
        """Whether the values are the same, of arrays of the same shape and dtype."""
        tolerance = float(np.sqrt(np.finfo(self.dtype).eps))
        finite = np.isfinite(self.samples)
        if not np.array_equal(self.samples[~finite], other.samples[~finite], equal_nan=True):
            return False
        mine, theirs = self.samples[finite], other.samples[finite]
        with np.errstate(all="ignore"):
            if np.any(~(np.abs(mine - theirs) <= tolerance * np.abs(mine).max(initial=0))):
                return False
            return not np.isfinite(self.total) or bool(np.abs(self.total - other.total) <= tolerance * self.size)


class CheckpointedCall(SingleOperation):
    """One checkpointed call: what it takes to run it again."""

    needs_inputs = False
    explains_numbers = True

    outputs: list[int]  # which leaves of the result are tracked
    used: list[int]  # the arguments that they depend on
    others: list[Node]  # what else they depend on
    prints: list[Fingerprint]  # what they were
    results: tuple[Any, ...]  # they themselves, until they are handed over
    passed: PassedContainers  # the containers among the arguments

    def __init__(self, function: Function, tree: Any, flat: list[Any]) -> None:
        super().__init__(RuleCall(function))
        self.function = function
        self.title = f"checkpoint({self.call.name})"
        self.ambient = recording.current().bits & AMBIENT
        self.tree = tree
        self.template = ArrayTemplate(tree, flat, [isinstance(x, Tensor | np.ndarray) for x in flat])
        # writing into a tensor gives it another array: a second tensor with the present one will not change
        items = [flat[slot] for slot in self.template.slots]
        self.given: list[Any] = [Tensor(x._array, x._node) if type(x) is Tensor else x for x in items]
        # a Variable goes in as itself, and counts among what else is read: it may be assigned to
        self.moving = [index for index, x in enumerate(flat) if type(x) is Tensor and is_tracked(x)]

    def keep(self, used: list[int], others: list[Node], results: list[Any]) -> None:
        """After the first run: what it depended on, and what it gave."""
        self.used, self.others, self.results = used, others, tuple(results)
        self.prints = [Fingerprint(array) for array in results]
        self.given = [guard(x) if isinstance(x, np.ndarray) else x for x in self.given]
        self.function = bind_state(self.function)

    def run(self, flat: list[Any]) -> Any:
        """Call the function with the arrays `flat` in the places of its arguments."""
        args, kwargs = rebuild(self.tree, flat)
        if self.tree is not self.template.tree:  # it is the caller's
            self.passed, self.tree = PassedContainers(self.tree, (args, kwargs)), self.template.tree
        return self.function(*args, **kwargs)

    def kernel(self, *_: Any) -> tuple[Any, ...]:
        """The results of the first run, which is made before the operation is recorded."""
        results, self.results = self.results, ()
        return results

    def reverse(self, g: Any, node: Node, inputs: tuple[Any, ...]) -> list[Any]:
        """Run the function again on a tape of its own, and pull the cotangents back through it."""
        tape, outputs, sources = self._again(node)
        seeds = list(zip(outputs, g, strict=True))
        watched = [source for source in sources if not isinstance(source, Cut)]
        recorded = attach_for(outputs, g)
        visited: list[Node] = []
        nan_origins = NanOrigins()
        found = walk(seeds, tape.bit, sources=watched, attach=recorded, visited=visited, nan_origins=nan_origins)
        if nan_origins or not all(is_finite(gradient) for gradient in found.values()):
            from gradtape.explain.kernel.examine import examine

            examine(seeds, tape.bit, list(found.items()), [], nan_origins, judges_zeros=False)
        release(visited, tape.bit, Location(None, 0))
        return [found.get(source) for source in sources]

    def forward(self, tangents: Sequence[Any], node: Node, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the function again on a tape of its own, and push the tangents through it."""
        tape, outputs, sources = self._again(node)
        moving = dict(zip(sources, tangents, strict=True))
        return tuple(push_tangents(outputs, moving, tape.bit, attach_for(outputs, tangents)))

    def _again(self, node: Node) -> tuple[GradientTape, list[Node], list[Node]]:
        """Run the function once more, on a tape of its own: the tape, the results' nodes, and where they come from.

        What is read besides the arguments is watched at its own place while the function runs, and given another place
        afterwards: a walk that went on from there would meet what came before, which is the outer walk's business.
        """
        tape = GradientTape(persistent=True, watch_accessed_variables=False)
        flat = list(self.template.rest)
        for slot, x in zip(self.template.slots, self.given, strict=True):
            flat[slot] = x.check(node) if isinstance(x, LockedArray) else x
        for index in self.moving:
            flat[index] = tape.watch(copy_to_new_node(flat[index]))
        watched = [other for other in self.others if not isinstance(other, Cut)]
        places = {other: tape.watch(copy_to_new_node(placeholder_tensor(other)))._node for other in watched}
        arguments = [flat[index]._node for index in self.used]
        start = next_order()
        for other in watched:
            other.bits |= tape.bit
        try:
            outs = self._run_again(flat, tape)
            made = self._checked(interior_results(outs, start, tape.bit), outs)
            outputs = [outs[index]._node for index in made]
            reached = nodes_before_run(outputs, start, tape.bit, places)
        finally:
            for other in watched:
                other.bits &= ~tape.bit
        if {node for node in reached if not isinstance(node, Cut)} != {*arguments, *watched}:
            raise differs(self.call, "its results depend on other tensors than before")
        return tape, outputs, arguments + [places.get(other, other) for other in self.others]

    def _run_again(self, flat: list[Any], tape: GradientTape) -> list[Any]:
        state = recording.current()
        # `.backward()` is off during a walk; the function may need it, as it may have at first
        as_at_first = recording.Recording(
            state.recorders,
            state.ambient or bool(self.ambient),
            state.muted & ~self.ambient,
            interpreter=state.interpreter,
        )
        try:
            with recording.during(as_at_first), tape:
                return leaves(self.run(flat))
        except Exception as error:
            error.add_note(f"gradtape: raised when checkpoint ran {self.call.name!r} again for its gradient")
            raise

    def _checked(self, made: list[int], outs: list[Any]) -> list[int]:
        """Which results were recorded, after making sure that they are the results of before."""
        if made != self.outputs:
            how = f"{len(made)} of its results depend on tracked tensors, and {len(self.outputs)} did before"
            raise differs(self.call, how)
        now = [Fingerprint(outs[index]._array) for index in made]
        check_same(self.call, made, now, self.prints)
        return made


def attach_for(outputs: list[Node], given: Iterable[Any]) -> Any:
    """Whether what is computed now will be recorded by someone, and so has to be computed with tensors."""
    bits = recording.current().bits
    return attach if any(node.bits & bits for node in outputs) or any(is_recorded(x) for x in given) else None


def check_same(
    call: RuleCall, numbers: Sequence[int], now: Sequence[Fingerprint], before: Sequence[Fingerprint]
) -> None:
    """Raise unless a second run gave what the first gave."""
    if len(now) != len(before):
        raise differs(call, f"it has {len(now)} results, and had {len(before)}")
    for number, new, old in zip(numbers, now, before, strict=True):
        if (new.shape, new.dtype) != (old.shape, old.dtype):
            shapes = f"shape {new.shape} and dtype {new.dtype}, and had {old.shape} and {old.dtype}"
            raise differs(call, f"result {number} has {shapes}")
        if not new.agrees(old):
            raise differs(call, f"result {number}, of shape {new.shape}, has other values")


def differs(call: RuleCall, how: str) -> RuleError:
    """The error for a second run that does something else than the first."""
    from gradtape.explain.source.files import span_of

    return RuleError(
        messages.problem(
            "GT302",
            f"checkpoint ran {call.name!r} again for its gradient, and it did not do the same: {how}",
            spans=[span_of(definition_of(call.function), "the function"), span_of(call.where, "this call of it")],
            consequence="usual causes: random numbers drawn inside; a list, an array or an attribute that was changed "
            "since; a side effect, such as a counter or a cache",
            fixes=["draw random numbers outside and pass them in", "pass what changes as an argument"],
        )
    )


def _checkpoint_in_batch(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As a function of its arguments alone, with a rule that can be batched; plain, if it reads or changes more."""
    arrays, template = split_arrays((args, kwargs), is_array)
    if any(is_recorded(x) for x in arrays):
        before = StateBefore([function, *(x for x in leaves((args, kwargs)) if not is_array(x))])
        if before.has_iterators:
            return function(*args, **kwargs)
        rule = _RecomputedRule(RuleCall(function), bind_state(function), template)
        try:
            result = apply_rule(rule, arrays)
        except _WritesToArgumentsError:
            before.restore()
        except DetachError:
            if not rule.call.reads_more:
                raise
            before.restore()
        else:
            # what such a run leaves behind has no derivative: that was a run of the function on bare arrays
            if not before.restore():
                return result
    return function(*args, **kwargs)


class _WritesToArgumentsError(Exception):
    """The function of a checkpoint has written to a tensor or to a container that it was given."""


class _RecomputedRule(CustomRule):
    """The rule of `checkpoint` in a batch: the derivative of a function is the function's own, when it runs again."""

    smooth: list[bool]  # which results can move
    prints: list[Fingerprint]  # what these were

    def __init__(self, call: RuleCall, function: Function, template: ArrayTemplate) -> None:
        super().__init__(call)
        self.function, self.template = function, template

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        args, kwargs = self.template.fill(inputs)
        passed = PassedContainers(self.template.tree, (args, kwargs))
        given = [x for x in leaves((args, kwargs)) if isinstance(x, Tensor)]
        before = [_version_of(x) for x in given]
        results, template, specs = split_results(self.function(*args, **kwargs))
        for x, old in zip(given, before, strict=True):
            if any(a is not b for a, b in zip(_version_of(x), old, strict=True)):
                raise _WritesToArgumentsError
        if passed.have_changed():
            raise _WritesToArgumentsError
        self.smooth = [spec.dtype.kind in "fc" for spec in specs]
        self.prints = [Fingerprint(innermost_array(x)) for x in self._moving(results)]
        return results, KeptValues([], ResultForm(template, specs, None, False))

    def _moving(self, results: Arrays) -> Arrays:
        return [x for x, smooth in zip(results, self.smooth, strict=True) if smooth]

    def pull(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        again, moving = self._again(inputs)
        _, pull_back = vjp(again, *[inputs[index] for index in moving])
        found = dict(zip(moving, pull_back(self._moving(cotangents)), strict=True))
        return [array_if_untracked(found.get(index)) for index in range(len(inputs))]

    def push(self, inputs: Arrays, kept: KeptValues, tangents: Arrays) -> Arrays:
        again, moving = self._again(inputs)
        _, pushed = jvp(again, [inputs[index] for index in moving], [tangents[index] for index in moving])
        supply = iter(pushed)
        return [array_if_untracked(next(supply)) if smooth else None for smooth in self.smooth]

    def _again(self, inputs: Arrays) -> tuple[Function, list[int]]:
        """The function of the inputs that can move, which makes sure that its results are those of before."""
        were_tensors = self.template.were_tensors
        moving = [i for i, x in enumerate(inputs) if were_tensors[i] and x.dtype.kind in "fc"]

        def again(*values: Any) -> Arrays:
            given = dict(zip(moving, values, strict=True))
            args, kwargs = self.template.fill([given.get(index, x) for index, x in enumerate(inputs)])
            results = split_results(self.function(*args, **kwargs))[0]
            found = self._moving(results) if len(results) == len(self.smooth) else results
            now = [Fingerprint(innermost_array(x)) for x in found]
            check_same(self.call, range(len(now)), now, self.prints)
            return found

        return again, moving


def _version_of(tensor: Tensor) -> tuple[Any, ...]:
    """What a write to a tensor replaces: its array, its node, and what it is for an interpreter."""
    return tensor._array, tensor._node, getattr(tensor, "traced", None), getattr(tensor, "_held", None)


def innermost_array(value: Any) -> Any:
    """The array at the bottom of a tensor, with all its batches."""
    while isinstance(value, BatchTensor):
        value = value.value
    return with_numbers(value._array) if isinstance(value, Tensor) else value
