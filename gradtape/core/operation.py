"""What an operation is, and `apply`: the one door that all of them go through."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.config import config
from gradtape.core import recording
from gradtape.core.graph import (
    CUT,
    FLAGS,
    LIFTED,
    LIFTED_NODE,
    PARTS,
    TENSOR,
    UNTRACKED,
    VARIABLE,
    Cut,
    Node,
    Spec,
    _next_order,
    cut,
)
from gradtape.core.guard import guard
from gradtape.core.location import Location, is_library
from gradtape.core.tensor import Tensor, Variable
from gradtape.errors import GradTapeError, OperandError, family

_getframe = sys._getframe
_new = object.__new__

Reverse = Callable[[Any, Node, Any, tuple[Any, ...]], Sequence[Any]]
Forward = Callable[[Node, Any, tuple[Any, ...], Sequence[Any]], Any]
Batch = Callable[["Op", Sequence[bool], Sequence[Any], dict[str, Any]], Any]


class Op:
    """One row of the operation table: a NumPy kernel and its calculus. Arrays are positional, the rest are keywords.

    Rows are made with the four declarations in `gradtape.core.rules`, which derive `reverse` and `forward` from the
    mathematics, written once.
    """

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        *,
        reverse: Reverse | None = None,
        forward: Forward | None = None,
        batch: Batch | None = None,
        needs: tuple[frozenset[int], ...] | None = (),
        needs_out: frozenset[int] = frozenset(),
        outputs: bool = False,
        strict: bool = False,
        view: bool = False,
        specs: bool = False,
        kind: str = "general",
        answers: Sequence[Callable[..., Any]] = (),
        samples: Any = None,
        domain: Any = None,
        doc: str | None = None,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.differentiable = reverse is not None
        self.reverse: Reverse = reverse or _no_rule(name)
        self.forward = forward
        self.batch = batch
        self.needs = needs  # for each input, the inputs whose values its rule uses; None: all the others
        self.needs_out = needs_out  # the inputs whose rules use the result
        self.outputs = outputs  # whether the kernel returns a tuple of several results
        self.part: int | None = None  # which of several results this is, for the operation that picks one
        self.strict = strict  # whether a dtype that differs is an error rather than cast
        self.view = view  # whether the result may share the input's memory
        self.specs = specs  # whether rules need to know the shapes of inputs whose values they do not use
        self.kind = kind
        self.answers = tuple(answers)  # the NumPy and SciPy functions that this operation stands for
        self.samples = samples
        self.domain = domain
        self.__doc__ = doc
        self.__name__ = name
        self._keep: dict[int, tuple[bool, ...]] = {}

    def __call__(self, *inputs: Any, **params: Any) -> Any:
        return apply(self, inputs, params)

    def __repr__(self) -> str:
        return f"<operation {self.name}>"

    def keep(self, tracked: int, count: int) -> tuple[bool, ...]:
        """Which inputs a node has to save when those in the bit set `tracked` can get a gradient."""
        flags = self._keep.get(tracked << 8 | count)
        if flags is None:
            who = [index for index in range(count) if tracked >> index & 1]
            if self.needs is None:
                used = {i for i in range(count) for index in who if i != index}
            else:
                used = {i for index in who for i in self.needs[index]} if self.needs else set()
            flags = self._keep[tracked << 8 | count] = tuple(i in used for i in range(count))
        return flags


def _no_rule(name: str) -> Reverse:
    def reverse(*_: Any) -> Sequence[Any]:
        raise OperandError(f"{name!r} has no derivative")

    return reverse


def apply(op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Run `op`, and record it where the bits of its inputs meet those of the active tapes."""
    bits = 0
    arrays = []
    nodes = []
    for x in inputs:
        if isinstance(x, Tensor):
            node = x._node
            bits |= node.bits
            nodes.append(node)
            arrays.append(x._array)
        else:
            nodes.append(UNTRACKED)
            arrays.append(x)
    if bits & LIFTED:
        return _apply_lifted(op, inputs, params, nodes, bits)
    try:
        out = op.kernel(*arrays, **params)
    except Exception as error:
        raise _explained(error, op, inputs, params) from error
    if not bits:
        return out
    state = recording.current()
    live = bits & state.bits
    if bits & VARIABLE:
        live |= state.meet([x for x in inputs if isinstance(x, Variable) and x._node.bits & VARIABLE])
    if live and op.differentiable:
        return record(op, inputs, arrays, nodes, params, out, live, bits, state)
    node = _untracked_node(op, nodes, bits)
    return tuple([Tensor(part, node) for part in out]) if op.outputs else Tensor(out, node)


def record(
    op: Op,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    nodes: list[Node],
    params: dict[str, Any],
    out: Any,
    live: int,
    bits: int,
    state: recording.Recording,
) -> Any:
    """A tensor for `out` with a node that remembers how it was made."""
    node = _new(Node)
    node.op = op
    node.params = params
    node.bits = live | (bits & LIFTED) | TENSOR
    node.order = _next_order()
    node.recording = state
    node.extra = None
    if config.locations:
        frame: Any = _getframe(2)
        while frame is not None and is_library[frame.f_code.co_filename]:
            frame = frame.f_back
        node.code, node.offset = (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)
    else:
        node.code, node.offset = None, 0
    # what to save: the values that the rules of the tracked inputs use, and nothing else
    if bits & ~(live | TENSOR | VARIABLE | LIFTED):  # some input carries a cut, or is on another tape
        nodes = [_parent(n, live) for n in nodes]
    tracked = 0
    for index, parent in enumerate(nodes):
        if parent.bits & (live | VARIABLE):
            tracked |= 1 << index
    node.parents = tuple(nodes)
    saved = []
    for x, array, kept in zip(inputs, arrays, op.keep(tracked, len(arrays)), strict=True):
        if not kept:
            saved.append(Spec(np.shape(array), getattr(array, "dtype", None)) if op.specs else None)
        elif type(array) is np.ndarray and array is x:
            saved.append(guard(array))
        else:
            saved.append(array)
    node.inputs = tuple(saved)
    needs_out = op.needs_out and any(tracked >> index & 1 for index in op.needs_out)
    if op.outputs:
        return _several(op, node, out, needs_out, state, live)
    node.out = out if needs_out else None
    node.shape = out.shape
    node.dtype = out.dtype
    if bits & LIFTED:
        result = out._on(node)
        if needs_out:
            node.out = out._on(LIFTED_NODE)
    else:
        result = _new(Tensor)
        result._array = out
        result._node = node
        if op.view:
            _note_view(result, inputs)
    if live & state.forward:
        _push(node, live, state)
    return result


def _several(op: Op, node: Node, outs: Any, needs_out: bool, state: recording.Recording, live: int) -> tuple[Any, ...]:
    """The results of an operation that has several: one node for all, and one for each that picks it out."""
    node.shape, node.dtype = (), np.dtype(float)
    node.params = {**node.params, PARTS: tuple((out.shape, out.dtype) for out in outs)}
    node.out = tuple(_bare(out) for out in outs) if needs_out else None
    if live & state.forward:
        _push(node, live, state)
    results = []
    for index, out in enumerate(outs):
        if out.dtype.kind not in "fc":
            results.append(attach(_bare(out), UNTRACKED))
            continue
        part = _new(Node)
        part.op, part.parents, part.inputs, part.out, part.params = _pick(index), (node,), (None,), None, {}
        part.bits, part.order, part.shape, part.dtype = node.bits, _next_order(), out.shape, out.dtype
        part.recording, part.code, part.offset, part.extra = state, node.code, node.offset, None
        if node.extra is not None:
            tangents = {bit: parts[index] for bit, parts in node.extra.tangents.items() if parts[index] is not None}
            part.extras().tangents = tangents
        results.append(attach(_bare(out), part))
    return tuple(results)


_picks: list[Op] = []


def _pick(index: int) -> Op:
    while len(_picks) <= index:
        op = Op("pick", lambda *_: None, reverse=lambda g, node, out, inputs: (g,))
        op.part = len(_picks)
        _picks.append(op)
    return _picks[index]


def attach(value: Any, node: Node) -> Any:
    """`value`, an array or an interpreter's tensor, as a tensor at `node`; plain when `node` is untracked."""
    if isinstance(value, tuple):
        return tuple(attach(part, node) for part in value)
    if isinstance(value, Tensor):
        return value._on(node if node.bits & LIFTED else LIFTED_NODE)
    return value if node is UNTRACKED else Tensor(value, node)


def _bare(value: Any) -> Any:
    return value._on(LIFTED_NODE) if isinstance(value, Tensor) and value._node.bits & LIFTED else value


def _push(node: Node, live: int, state: recording.Recording) -> None:
    """Let forward accumulators compute their tangents at once, the outermost first."""
    for recorder in state.recorders:
        if recorder.pushes_forward and live & recorder.bit:
            with recording.during(state.before(recorder)):
                recorder.push(node, attach)
    if not live & ~state.forward:  # no tape will walk back through here
        node.inputs, node.parents, node.out = (), (), None


def _parent(node: Node, live: int) -> Node:
    """`node` as a parent: a tensor of a tape that is not recording becomes a cut, so that it keeps nothing alive."""
    if node is UNTRACKED or node.bits & (live | VARIABLE | CUT) or node.bits <= FLAGS:
        return node
    return cut("another tape", (node,), bool(node.bits & LIFTED))


def _untracked_node(op: Op, nodes: list[Node], bits: int) -> Node:
    """The node of a result that is on no tape: a cut if something tracked went in."""
    lifted = bool(bits & LIFTED)
    if bits > FLAGS:
        reason = "not recording" if op.differentiable else op.name
        return cut(reason, [node for node in nodes if node.bits > FLAGS], lifted)
    if bits & CUT:
        return next(node for node in nodes if isinstance(node, Cut))
    return LIFTED_NODE if lifted else UNTRACKED


def _note_view(result: Tensor, inputs: tuple[Any, ...]) -> None:
    """Remember that `result` may share the memory of a tensor, for the sake of writes in place."""
    base = inputs[0]
    if isinstance(base, Tensor) and np.may_share_memory(result._array, base._array):
        family = [view for view in getattr(base, "_views", ()) if view() is not None] or [weakref.ref(base)]
        family.append(weakref.ref(result))
        base._views = result._views = family


def _apply_lifted(op: Op, inputs: tuple[Any, ...], params: dict[str, Any], nodes: list[Node], bits: int) -> Any:
    """Let the innermost interpreter among the inputs run `op`, then record what it made like any other result."""
    level = max((x.level for x in inputs if isinstance(x, Lifted)), key=lambda level: level.depth)
    state = recording.current()
    with recording.during(state.within(level.outer)):
        out = level.process(op, inputs, params)
    live = bits & state.bits & ~level.outer.bits
    if bits & VARIABLE:
        variables = [x for x in inputs if isinstance(x, Variable) and x._node.bits & VARIABLE]
        live |= state.meet(variables) & ~level.outer.bits
    if live and op.differentiable:
        values = [attach(x, LIFTED_NODE) if isinstance(x, Lifted) else getattr(x, "_array", x) for x in inputs]
        return record(op, inputs, values, nodes, params, out, live, bits, state)
    if bits & ~level.outer.bits <= FLAGS:
        return out
    node = _untracked_node(op, nodes, bits)
    return tuple(part._on(node) for part in out) if op.outputs else out._on(node)


class Level:
    """An interpreter that stands in the door: knows how to run an operation on its own kind of tensor."""

    def __init__(self) -> None:
        self.depth = _next_order()
        self.outer = recording.current()

    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run `op` in terms of the values inside this level's tensors; a tensor of this level, or several."""
        raise OperandError(f"{type(self).__name__} does not run operations")


class Lifted(Tensor):
    """A tensor of an interpreter."""

    __slots__ = ("level",)

    level: Level


def describe_operands(inputs: Sequence[Any], names: Sequence[str]) -> str:
    """One line an operand: its name in the user's code, shape, dtype, and the line it came from."""
    rows = []
    for index, x in enumerate(inputs):
        name = names[index] if index < len(names) == len(inputs) else f"argument {index}"
        if not hasattr(x, "shape"):
            rows.append(f"    {name}: {type(x).__name__} {np.shape(x) if isinstance(x, list | tuple) else x!r}")
            continue
        row = f"    {name}: shape {x.shape}, {x.dtype}"
        if isinstance(x, Tensor) and x._node.code is not None and x._node.op is not None:
            row += f", from {x._node.location}"
        rows.append(row)
    return "\n".join(rows)


def _explained(error: Exception, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Exception:
    """The error for an operation that NumPy refused: NumPy's class and words, and the user's line and operands."""
    ours = family(error)
    if isinstance(error, GradTapeError) or ours is None:
        return error
    where = Location.here()
    operands = describe_operands(inputs, where.operands)
    return ours(f"{op.name}: {error}\n{where.show()}\n{operands}")
