"""`audit_batch`: whether the examples of a batch are independent; if not, which depend on which, and on which line.

The backward pass is seeded on example i of the result; a gradient that arrives at example j of the argument is a leak.
For the first pairs that leak, tangents of both examples are pushed forward: the oldest operation with an element that
changes with both is where they meet.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import (
    BatchTensor,
    Location,
    Node,
    RecordedCall,
    Tensor,
    check_argnums,
    choose_arguments,
    for_each_row,
    leaves,
    node_of,
    push_tangents,
    record_call,
    walk,
)

if TYPE_CHECKING:
    from gradtape.extend import Span

PAIRS_SHOWN = 6
WATCHED = {
    **{"torch": "torch", "tensorflow": "tensorflow", "keras": "tensorflow"},
    **{"jax": "jax", "jaxlib": "jax", "flax": "jax", "equinox": "jax"},
}
"""The libraries whose functions are audited by themselves, in gradtape.watching, by the packages of their values."""
MEETINGS_SOUGHT = 3
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Leak:
    """Result `example` depends on example `other` of the argument; `size` is the largest derivative between them."""

    example: int
    other: int
    argument: str
    size: float


@dataclass(frozen=True)
class BatchAudit:
    """What `audit_batch` found: true when every example depends on itself only, and readable as text.

    >>> import numpy as np, gradtape as gt
    >>> audit = gt.audit_batch(lambda x: x - x.mean(axis=0))(np.ones((3, 2)))
    >>> bool(audit), [(leak.example, leak.other) for leak in audit.leaks][:2]
    (False, [(0, 1), (0, 2)])
    """

    function: str
    examples: int
    leaks: tuple[Leak, ...] = ()
    meetings: tuple[Span, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no example depends on another."""
        return not self.leaks

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        head = f"batch audit of {self.function}"
        if self.ok:
            return f"{head} passed: each of {self.examples} examples depends on itself only"
        pairs = self.examples * (self.examples - 1)
        leaking = {(leak.example, leak.other) for leak in self.leaks}
        rows = [f"{head} failed: examples depend on each other, {len(leaking)} of {pairs} pairs."]
        rows += [
            f"    result {leak.example} depends on example {leak.other} of {leak.argument} ({leak.size:.3g})"
            for leak in self.leaks[:PAIRS_SHOWN]
        ]
        if len(self.leaks) > PAIRS_SHOWN:
            rows.append(f"    and {len(self.leaks) - PAIRS_SHOWN} more")
        for span in self.meetings:
            rows.append(f"  {span.label}:\n  {span.place}   {span.source.strip()}")
            if span.column is not None and span.end_column is not None and "\n" not in span.source:
                indent = len(span.source) - len(span.source.lstrip())
                lead = " " * (len(span.place) + 5 + span.column - indent)
                rows.append(lead + "~" * (span.end_column - span.column))
        rows.append("  fix: reduce, normalise and compare within an example (axis=1, axis=-1), not along axis 0")
        return "\n".join(rows)


def audit_batch(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., BatchAudit]:
    """A function that calls `function` and tells whether the examples of its batch leak into each other.

    `argnums` are the arguments that hold the examples along their first axis (nested structures too); the result has
    the examples along its first axis as well. Costs one batched walk back, with a row for each example.

    Returns a `BatchAudit`: `assert gt.audit_batch(f)(x)` in a test shows who leaks into whom, and where they met.

    >>> import numpy as np, gradtape as gt
    >>> weights, batch = np.ones((3, 2)), np.ones((4, 3))
    >>> def logits(weights, batch):
    ...     return np.tanh(batch @ weights)
    >>> print(gt.audit_batch(logits, argnums=1)(weights, batch))
    batch audit of logits passed: each of 4 examples depends on itself only
    """
    check_argnums("audit_batch", argnums)

    def audit(*args: Any, **kwargs: Any) -> BatchAudit:
        for each in (function, *leaves(args)):
            packages = [kind.__module__.partition(".")[0] for kind in type(each).__mro__]
            library = next((WATCHED[package] for package in packages if package in WATCHED), None)
            if library is not None:
                return _audit_library(library, function, args, kwargs, argnums)
        numbers, _ = choose_arguments(function, args, argnums)
        run = record_call(function, args, kwargs, numbers)
        outputs = leaves(run.result)
        size = _shared_length(run, outputs, numbers)
        names = _argument_names(run, numbers)
        leaks: list[Leak] = []
        meetings: dict[tuple[str, int, int | None], Span] = {}
        for output in outputs:
            if isinstance(output, Tensor) and node_of(output).bits & run.tape.bit:
                found = _find_leaks(run, output, size, names)
                leaks += found
                for leak in found[:MEETINGS_SOUGHT]:
                    span = _find_meeting(run, output, leak)
                    if span is not None:
                        meetings.setdefault((span.file, span.line, span.column), span)
        return BatchAudit(run.name, size, tuple(leaks), tuple(meetings.values()))

    return audit


def _audit_library(
    library: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    argnums: int | Sequence[int],
) -> BatchAudit:
    """The audit of a function or model of PyTorch, TensorFlow or JAX, which runs its own backward passes."""
    queries = importlib.import_module(f"gradtape.watching.{library}.queries")
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)
    size, found, meetings = queries.find_leaks(function, args, kwargs, numbers)
    leaks = tuple(Leak(one, other, f"argument {number}", value) for one, other, number, value in found)
    name = getattr(function, "__name__", type(function).__name__)
    return BatchAudit(name, size, leaks, tuple(meetings))


def _shared_length(run: RecordedCall, outputs: list[Any], numbers: list[int]) -> int:
    """The number of examples, which the chosen arguments and all results agree on."""
    shapes = [tuple(np.shape(output)) for output in outputs]
    given = [source.shape for source in run.sources]
    if not all(isinstance(output, (Tensor, np.ndarray, np.generic, float, int)) for output in outputs):
        raise OperandError(
            f"audit_batch: {run.name} returned {type(run.result).__name__}, not numbers.\n{Location.here().show()}"
        )
    lengths = {shape[0] if shape else None for shape in (*shapes, *given)}
    if len(lengths) == 1 and None not in lengths:
        return int(shapes[0][0])
    said = ", ".join(map(str, shapes))
    which = f"argument {numbers[0]}" if len(numbers) == 1 else f"the arguments {numbers}"
    raise ShapeError(
        f"audit_batch: the result of {run.name} (shape {said}) and {which} (shape {', '.join(map(str, given))}) do not "
        f"share their first axis, the one of the examples.\n{Location.here().show()}\n"
        "  fix: return one row for each example (no mean or sum over them); argnums= says which arguments hold examples"
    )


def _argument_names(run: RecordedCall, numbers: list[int]) -> list[str]:
    """A name for each source: the argument it is, or is part of."""
    names = []
    for number, argument in zip(numbers, run.chosen, strict=True):
        parts = len(leaves(argument))
        names += [f"argument {number}" + (f", part {part}" if parts > 1 else "") for part in range(parts)]
    return names


def _find_leaks(run: RecordedCall, output: Tensor, size: int, names: list[str]) -> list[Leak]:
    """All pairs that leak: one row of seeds for each example, with unequal weights so that nothing cancels."""
    weights = np.random.default_rng(0).uniform(0.5, 1.5, output.shape).astype(output.dtype)
    nodes = run.nodes

    def arrivals(seed: BatchTensor, last: bool) -> list[Any]:
        found = walk([(node_of(output), seed)], run.tape.bit, sources=nodes)
        return [found.get(node) for node in nodes]

    widest = max(output.size, *(int(np.prod(node.shape)) for node in nodes), 1)
    leaks = []
    for start, chunk in _chunks(size, widest):
        rows = np.zeros((len(chunk), *output.shape), output.dtype)
        for row, example in enumerate(chunk):
            rows[row, example] = weights[example]
        for name, arrived in zip(names, for_each_row(arrivals, rows, widest), strict=True):
            if arrived is None:
                continue
            sizes = np.abs(np.asarray(arrived)).reshape(len(chunk), size, -1)
            strength = np.where(np.isfinite(sizes), sizes, np.inf).max(axis=2, initial=0.0)
            finite = strength[np.isfinite(strength)]
            noise = 64 * np.finfo(output.dtype).eps * finite.max(initial=0.0)
            for row, other in zip(*np.nonzero(strength > noise)):
                if start + row != other:
                    leaks.append(Leak(int(start + row), int(other), name, float(strength[row, other])))
    return leaks


def _chunks(size: int, widest: int) -> Iterable[tuple[int, range]]:
    """The examples in groups whose gradients fit into memory."""
    step = max(1, min(size, (1 << 22) // widest))
    return [(start, range(start, min(start + step, size))) for start in range(0, size, step)]


def _find_meeting(run: RecordedCall, output: Tensor, leak: Leak) -> Span | None:
    """The span of the oldest operation with an element that depends on both examples; None if it is not known."""
    from gradtape.extend import span_of  # with the modules that read source files, which are loaded when needed

    order = [node_of(output), *ancestors_of(node_of(output), run.tape.bit)]
    nodes = sorted((node for node in order if node.op is not None), key=lambda node: node.order)
    if any(node.op is None or (node.op.forward is None and node.op.part is None) for node in nodes):
        return None  # an operation on the way has no forward rule
    moved = [push_example(run, nodes, example) for example in (leak.example, leak.other)]
    for node, one, two in zip(nodes, *moved):
        if one is not None and two is not None and node.op is not None and node.op.part is None and not node.op.outputs:
            both = (np.asarray(one) != 0) & (np.asarray(two) != 0)
            if both.shape == node.shape and both.any():
                return span_of(node.location, f"examples {leak.example} and {leak.other} meet here")
    for node, two in zip(nodes, moved[1]):  # they do not meet: one takes the position of the other
        if two is not None and node.shape[:1] == output.shape[:1] and np.any(np.asarray(two)[leak.example] != 0):
            return span_of(node.location, f"example {leak.other} comes to the place of example {leak.example} here")
    return None


def ancestors_of(node: Node, mask: int) -> dict[Node, None]:
    """The nodes of a tape that a node was computed from."""
    reached: dict[Node, None] = {}
    pending = list(node.parents)
    while pending:
        parent = pending.pop()
        if parent.bits & mask and parent not in reached:
            reached[parent] = None
            pending.extend(parent.parents)
    return reached


def push_example(run: RecordedCall, nodes: list[Node], example: int) -> list[Any]:
    """The tangents of `nodes` for one example, in a random direction, so that no operation maps it to zero."""
    random = np.random.default_rng(1)
    tangents: dict[Node, Any] = {}
    for source in run.nodes:
        tangent = np.zeros(source.shape, source.dtype)
        tangent[example] = random.uniform(0.5, 1.5, source.shape[1:])
        tangents[source] = tangent
    return push_tangents(nodes, tangents, run.tape.bit, None)
