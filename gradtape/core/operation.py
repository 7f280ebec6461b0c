"""`Op`, one operation with its kernel and rules, and `apply`, which runs and records every operation."""

from __future__ import annotations

import inspect
import pkgutil
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from gradtape.config import config
from gradtape.core import recording
from gradtape.core.exits import note_computed_elsewhere
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
    GuardedInputs,
    Node,
    Spec,
    cut,
    join_cuts,
    next_order,
)
from gradtape.core.location import first_user_frame, user_files
from gradtape.core.pytree import is_sequence
from gradtape.core.saved_arrays import guard
from gradtape.core.tensor import Tensor, Variable, plain
from gradtape.core.views import note_view
from gradtape.explain import entry_points, messages

_getframe = sys._getframe
CUT_OR_TAPE = ~(TENSOR | VARIABLE | LIFTED)
NOWHERE = SimpleNamespace(f_code=None, f_lasti=0)  # the frame of a call that has no user's code above it
NO_PARAMS: dict[str, Any] = {}
_OWN_RULES = ("general", "multilinear", "custom")  # kinds of operations whose rules are more than NumPy's ufuncs
PLAIN = frozenset({np.ndarray, bool, int, float, complex, np.bool_, np.int64, np.float32, np.float64})
"""Classes of operands that hold no tensor, looked at first because they are frequent."""


def tensor_of(x: Any) -> Any:
    """The tensor that `x` holds, if it is of a class that holds one or a list of tensors, else `x`."""
    if isinstance(x, Tensor) or type(x) in PLAIN:
        return x
    if is_sequence(type(x)):
        return stack_nested[0](x) if holds_tensor(x) else x
    return x.__gradtape_tensor__() if hasattr(x, "__gradtape_tensor__") else x


stack_nested: list[Callable[[Any], Any]] = []
"""The function that makes a tensor of a nested list; the operations that it is made of are not known here."""


def holds_tensor(values: Any) -> bool:
    """Whether there is a tensor in a nested list."""
    return any(isinstance(x, Tensor) or (is_sequence(type(x)) and holds_tensor(x)) for x in values)


Reverse = Callable[[Any, Node, Any, tuple[Any, ...]], Sequence[Any]]
Forward = Callable[[Node, Any, tuple[Any, ...], Sequence[Any]], Any]
Chosen = Callable[[Node, Any, tuple[Any, ...]], Sequence[Any]]
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
        view: bool = False,
        specs: bool = False,
        units: Callable[[int, Sequence[Any]], Any] | None = None,
        kind: str = "general",
        varying: frozenset[int] = frozenset(),
        chosen: Chosen | None = None,
        moves_elements: bool = False,
        answers: Sequence[Callable[..., Any] | str] = (),
        samples: Any = None,
        domain: Any = None,
        doc: str | None = None,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.ufunc = isinstance(kernel, np.ufunc)
        self.differentiable = reverse is not None
        self.reverse: Any = reverse
        self.reverse_large: Any = None  # another version, which may write over a large cotangent
        self.forward = forward
        self.batch = batch
        self.needs = needs  # for each input, the inputs whose values its rule uses; None: all the others
        self.needs_out = needs_out  # the inputs whose rules use the result
        self.outputs = outputs  # whether the kernel returns a tuple of several results
        self.several = outputs  # whether it has to do with several results, as a whole or as a part
        self.is_special = outputs or chosen is not None  # whether a walk does more than to call its rule
        self.part: int | None = None  # which of several results this is, for the operation that picks one
        self.reads_part = False  # whether it reads elements of its operand, so that most of its cotangent is zero
        self.view = view  # whether the result may share the input's memory
        self.write_back: Any = None  # for a view: what its base becomes when the view gets a new value
        self.specs = specs  # whether rules need to know the shapes of inputs whose values they do not use
        self.units = units  # the batching rule for unit vectors, if it has a better one: see `Units`
        self.kind = kind
        self.varying = varying  # of an elementwise operation, the inputs whose slopes are not constants
        self.chosen = chosen  # where its inputs have an influence, if it chooses elements: see `structural_zeros`
        self.moves_elements = moves_elements  # whether it moves, copies or adds elements, and does nothing else
        self.supports: Any = None  # the supports behind it, where its rule need not be run: see `structural_zeros`
        # whether NaN and infinity are made without the floating-point errors that NumPy's own ufuncs raise
        self.is_unflagged = not self.ufunc and (kind in _OWN_RULES or "scipy.special" in f"{answers}")
        self.stretches = kind == "elementwise"  # whether operands of different shapes are broadcast
        self.answers = tuple(answers)  # the NumPy and SciPy functions that this operation stands for
        self.samples = samples
        self.domain = domain
        self.__doc__ = doc
        self.__name__ = name
        self.fast_unary: Callable[[Any], Any] | None = None  # the fast paths for one input and for two, if any
        self.fast_binary: Callable[[Any, Any], Any] | None = None
        self.plans: list[SavePlan | None] = [None] * 5  # at 1, for one input; at 2, 3, 4: the first, the second, both
        self.larger_plans: dict[tuple[int, int], SavePlan] = {}  # by the inputs that are tracked, and their number

    def __call__(self, *inputs: Any, **params: Any) -> Any:
        if not params and self.fast_unary is not None and self.fast_binary is not None:
            if len(inputs) == 1:
                return self.fast_unary(inputs[0])
            if len(inputs) == 2:
                return self.fast_binary(*inputs)
        if params and self.ufunc:  # `out`, `where` and the like: NumPy calls `Tensor.__array_ufunc__`
            return self.kernel(*inputs, **params)
        return apply(self, inputs, params)

    def __repr__(self) -> str:
        return f"<operation {self.name}>"

    @property
    def __signature__(self) -> inspect.Signature:
        """That of the ufunc which this operation stands for, as `inspect.signature` and editors show it."""
        named = (pkgutil.resolve_name(each) if isinstance(each, str) else each for each in self.answers)
        ufunc = next((each for each in (self.kernel, *named) if isinstance(each, np.ufunc)), None)
        try:
            return inspect.signature(ufunc)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:  # there is none, or one before NumPy 2.4, which has no signature
            raise AttributeError(f"{self.name} has no signature but that of its call") from error

    def plan(self, tracked: int, count: int) -> SavePlan:
        """What a node saves when, of `count` inputs, those in the bit set `tracked` are tracked."""
        with_gradient = [index for index in range(count) if tracked >> index & 1]
        if self.needs is None:
            used = {i for i in range(count) for index in with_gradient if i != index}
        else:
            used = {i for index in with_gradient for i in self.needs[index]} if self.needs else set()
        keep = tuple(i in used for i in range(count))
        plan = SavePlan(
            keep if used or self.specs else None, (None,) * count, bool(self.needs_out.intersection(with_gradient))
        )
        if count <= 2:
            self.plans[tracked + count - 1] = plan
        elif count <= 4:  # operations on any number of inputs are not listed
            self.larger_plans[tracked, count] = plan
        return plan


class SavePlan(NamedTuple):
    """What a node of an operation saves: which inputs (None: none of them), and whether the result."""

    keep: tuple[bool, ...] | None
    nothing: tuple[None, ...]
    out: bool


elision_hooks: list[Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]] = []
"""While `jit` traces a loop whose iterations are equal: functions that compute an operation of it and record nothing.

They return NotImplemented for any other operation.
"""


def apply(op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Run `op`, and record it on the active tapes that an input is on: those whose bits are in both."""
    if elision_hooks:
        for hook in tuple(elision_hooks):
            elided = hook(op, inputs, params)
            if elided is not NotImplemented:
                return elided
    bits = 0
    for x in inputs:
        if isinstance(x, Tensor):
            bits |= x._node.bits
        elif type(x) not in PLAIN and (hasattr(x, "__gradtape_tensor__") or (is_sequence(type(x)) and holds_tensor(x))):
            return apply(op, tuple([tensor_of(each) for each in inputs]), params)
    nodes = tuple([x._node if isinstance(x, Tensor) else UNTRACKED for x in inputs])
    arrays = tuple([x._array if isinstance(x, Tensor) else x for x in inputs])

    # run it: the kernel on arrays, or the interpreter that an input belongs to
    lifted = bits & LIFTED
    outer = 0
    if lifted:
        out, outer = _interpret(op, inputs, params)
    else:
        try:
            out = op.kernel(*arrays, **params) if params else op.kernel(*arrays)
        except Exception as error:
            refusal = messages.refused_operands(error, op, inputs, params)
            raise refusal from refusal.__cause__
        if not bits:
            return out
        if not op.outputs and out.dtype.hasobject:
            raise messages.objects_among_operands(op.name, inputs)
        if bits <= TENSOR:  # no input was ever on a tape
            if op.outputs:
                return tuple([Tensor(part) for part in out])
            result = Tensor(out)
            if op.view and isinstance(inputs[0], Tensor):
                note_view(result, inputs[0], op, params)
            return result

    # which active tapes is it recorded on?
    state = recording.current()
    live = bits & state.bits
    if lifted:
        live &= ~outer
    if bits & VARIABLE:
        variables = [x for x in inputs if isinstance(x, Variable) and x._node.bits & VARIABLE]
        live |= state.notify_of_variables(variables) & ~outer
    if not live or not op.differentiable:
        result = off_tape(op, out, nodes, bits, outer, inputs, params)
        if op.view:
            note_view(result, inputs[0], op, params)
        return result

    # the node of the result
    if bits & CUT_OR_TAPE & ~live:  # some input carries a cut, or is on another tape
        nodes = tuple([parent_of(node, live) for node in nodes])
    node = Node()
    node.op, node.params, node.parents = op, params, nodes
    node.bits, node.order, node.recording, node.extra = live | lifted | TENSOR, next_order(), state, None
    node.code, node.offset = None, 0
    if config.locations:
        frame: Any = _getframe(2)
        if frame.f_code.co_filename not in user_files:
            frame = first_user_frame(frame) or NOWHERE
        node.code, node.offset = frame.f_code, frame.f_lasti

    # save the values that the rules of the tracked inputs use, and nothing else
    count, tracked = len(nodes), 0
    for index, parent in enumerate(nodes):
        if parent.bits > FLAGS:
            tracked |= 1 << index
    plan = op.plans[tracked + count - 1] if count <= 2 else op.larger_plans.get((tracked, count))
    keep, node.inputs, keep_out = plan or op.plan(tracked, count)
    if keep is not None:
        if lifted:
            arrays = tuple([attach(x, LIFTED_NODE) if isinstance(x, Lifted) else plain(x) for x in inputs])
        node.inputs = values_to_save(inputs, arrays, keep, op.specs)
    if op.outputs:
        return _record_several(node, out, keep_out, live, state)
    node.shape = out.shape
    node.dtype = out.dtype
    if op.stretches and count == 2 and nodes[0 if tracked & 1 else 1].shape != node.shape:
        note_stretch(node, inputs)
    if lifted:
        node.out = out._on(LIFTED_NODE) if keep_out else None
        result = out._on(node)
    else:
        node.out = out if keep_out else None
        result = Tensor(out, node)
    if op.view:
        note_view(result, inputs[0], op, params)
    if live & state.forward:
        push(node, live, state)
    return result


def values_to_save(
    inputs: tuple[Any, ...], arrays: tuple[Any, ...], keep: tuple[bool, ...], specs: bool
) -> tuple[Any, ...]:
    """The values to save; the user's own arrays are guarded against changes."""
    saved: list[Any] = []
    guarded = False
    for x, array, kept in zip(inputs, arrays, keep):
        if not kept:
            kind = array.dtype if hasattr(array, "dtype") else np.asarray(array).dtype  # one of a batch is no array
            saved.append(Spec(np.shape(array), kind) if specs else None)
        elif array is not x:
            saved.append(array)
        elif type(array) is np.ndarray:
            saved.append(guard(array))
            guarded = True
        else:
            saved.append(np.asarray(array) if isinstance(array, (list, tuple)) else array)
    return GuardedInputs(saved) if guarded else tuple(saved)


def _record_several(node: Node, outs: Any, keep: bool, live: int, state: recording.Recording) -> tuple[Any, ...]:
    """The results of an operation that has several: one node for all, and one for each that picks it."""
    node.shape, node.dtype = (), np.dtype(float)
    node.params = {**node.params, PARTS: tuple((out.shape, out.dtype) for out in outs)}
    node.out = tuple(_without_node(out) for out in outs) if keep else None
    if live & state.forward:
        push(node, live, state)
    results = []
    for index, out in enumerate(outs):
        if out.dtype.kind not in "fc":
            results.append(attach(_without_node(out), UNTRACKED))
            continue
        results.append(attach(_without_node(out), _part_node(node, index, out)))
    return tuple(results)


def _part_node(node: Node, index: int, out: Any) -> Node:
    """A node that picks one of the several results of `node`."""
    part = Node()
    part.op, part.parents, part.inputs, part.out, part.params = _pick_op(index), (node,), (None,), None, {}
    part.bits, part.order, part.shape, part.dtype = node.bits, next_order(), out.shape, out.dtype
    part.recording, part.code, part.offset, part.extra = node.recording, node.code, node.offset, None
    if node.extra is not None:
        tangents = {bit: parts[index] for bit, parts in node.extra.tangents.items() if parts[index] is not None}
        part.extras().tangents = tangents
    return part


_picks: list[Op] = []


def _pick_op(index: int) -> Op:
    while len(_picks) <= index:
        op = Op("pick", lambda *_: None, reverse=lambda g, node, out, inputs: (g,))
        op.part, op.several, op.is_special = len(_picks), True, True
        _picks.append(op)
    return _picks[index]


def attach(value: Any, node: Node) -> Any:
    """`value`, an array or an interpreter's tensor, as a tensor at `node`."""
    if isinstance(value, tuple):
        return tuple([attach(part, _part_node(node, index, part)) for index, part in enumerate(value)])
    if isinstance(value, Lifted):
        return value._on(node if node.bits & LIFTED else LIFTED_NODE)
    return Tensor(value, node)


def _without_node(value: Any) -> Any:
    return value._on(LIFTED_NODE) if isinstance(value, Lifted) else value


def push(node: Node, live: int, state: recording.Recording) -> None:
    """Let forward accumulators compute the tangents of `node`, the outermost first."""
    for recorder in state.recorders:
        if recorder.pushes_forward and live & recorder.bit:
            with recording.during(state.before(recorder)):
                recorder.push(node, attach)
    if live & ~state.forward:  # a tape will walk back through here
        return
    if live & recording.departed_bits and all(r.keeps(node) for r in state.recorders if live & r.bit):
        return
    node.inputs, node.parents, node.out = (), (), None


def parent_of(node: Node, live: int) -> Node:
    """`node` as a parent: a tensor of a tape that is not recording becomes a cut, so that it keeps nothing alive."""
    if node is UNTRACKED or node.bits & (live | VARIABLE | CUT) or node.bits <= FLAGS:
        return node
    return cut("another tape", (node,), bool(node.bits & LIFTED))


def off_tape(
    op: Op,
    out: Any,
    nodes: tuple[Node, ...],
    bits: int,
    outer: int,
    inputs: tuple[Any, ...],
    params: dict[str, Any],
) -> Any:
    """The result as a tensor on no tape: a cut if something tracked went in; or what an interpreter makes of it."""
    if bits & ~VARIABLE > FLAGS and not bits & LIFTED and op.differentiable:
        state = recording.current()
        if state.interpreter is not None and (state.walking or not state.muted):
            return state.interpreter.process(op, inputs, params)
    node = LIFTED_NODE if bits & LIFTED else UNTRACKED
    if bits == TENSOR | LIFTED and not op.outputs:
        return out
    if bits & ~(outer | VARIABLE if outer else 0) > FLAGS:  # variables were recorded inside an interpreter
        reason = op.name
        if op.differentiable:
            state = recording.current()
            reason = "no_grad" if state.muted and not state.walking else "not recording"
        elsewhere = recording.bits_of_other_threads() if reason == "not recording" else 0
        if elsewhere:
            reason = "another thread"
        node = cut(reason, [n for n in nodes if n.bits > FLAGS], bool(bits & LIFTED))
        if elsewhere and isinstance(node, Cut):
            note_computed_elsewhere(node, elsewhere, np.shape(out))
        if bits & CUT:  # a variable meets what was computed from others: x @ w, and then + b
            met = dict.fromkeys(n for n in (*nodes, node) if isinstance(n, Cut))
            node = join_cuts(list(met), bool(bits & LIFTED))
    elif bits & CUT:
        cuts = {n: None for n in nodes if isinstance(n, Cut)}
        node = next(iter(cuts)) if len(cuts) == 1 else join_cuts(list(cuts), bool(bits & LIFTED))
    return (
        tuple([attach(_without_node(part), node) for part in out]) if op.outputs else attach(_without_node(out), node)
    )


def note_stretch(node: Node, inputs: tuple[Any, ...]) -> None:
    """Let `check_broadcast` judge an operation that has stretched its tracked operand, unless that is a scalar."""
    if (node.parents[0] if node.parents[0].bits > FLAGS else node.parents[1]).shape:
        entry_points.check_broadcast(node, inputs)


def _interpret(op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> tuple[Any, int]:
    """Let the innermost interpreter among the inputs run `op`, with the recorders that were on when it was entered.

    These record what the interpreter does; only tapes entered later record the operation as a whole. Returns the result
    and the bits of the former.
    """
    level: Any = None
    for x in inputs:
        if isinstance(x, Lifted) and x.level is not level and (level is None or x.level.depth > level.depth):
            level = x.level
    state = recording.current()
    if level is None:  # tensors of no interpreter, which this one has asked for
        level = state.interpreter
    if level.seen[0] is not state:
        level.seen = state, state.within(level.outer)
    inside = level.seen[1]
    token = None if inside is state else recording.enter(inside)
    interpreted.ops.append((op, inputs, params))
    try:
        return level.process(op, inputs, params), level.outer.bits
    finally:
        interpreted.ops.pop()
        if token is not None:
            recording.leave(token)


INTERPRET = _interpret.__code__


class _Interpreted(threading.local):
    """The operations that interpreters execute now in this thread, the outermost first, with inputs and parameters.

    Interpreters execute an operation in terms of others; an explanation tells of the one that the user has written.
    """

    def __init__(self) -> None:
        self.ops: list[tuple[Op, tuple[Any, ...], dict[str, Any]]] = []


interpreted = _Interpreted()


class Level(ABC):
    """An interpreter: runs operations on its own kind of tensor, instead of their kernels on arrays."""

    def __init__(self) -> None:
        self.depth = next_order()
        self.outer = recording.current()
        self.seen = (
            self.outer,
            self.outer,
        )  # cache: the recording of the last operation, and the part that was on outside

    @abstractmethod
    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run `op` in terms of the values inside this level's tensors; a tensor of this level, or several."""


class Lifted(Tensor):
    """A tensor of an interpreter."""

    __slots__ = ()

    level: Any = Tensor._level  # type: ignore[attr-defined]  # the slot that every tensor has, under its name here

    def as_index(self) -> Any:
        """What stands for this tensor in an index: itself, or its numbers where the interpreter needs to know them."""
        return self

    def _make_alike(self, other: Tensor) -> None:
        if isinstance(other, Variable):
            other._array = self._concrete()  # which says why, where there is no single value
        else:
            other.__class__ = type(self)
            other._held, other._level, other._viewed = self._held, self.level, False  # type: ignore[attr-defined]

    @abstractmethod
    def _on(self, node: Node) -> Lifted:
        """The same value at another node."""
