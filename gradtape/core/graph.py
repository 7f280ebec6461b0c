"""The graph: what a tensor keeps of the operation that computed it.

There is one graph. Which tapes a node is on are bits of one integer, so nested tapes, persistent tapes and the ambient
graph behind `.backward()` are one mechanism, and only the tensors computed from a node hold it. The backward pass over
the graph is in `gradtape.core.backprop`.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import count
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.core.location import Location, user_frame
from gradtape.core.saved_arrays import LockedArray
from gradtape.core.shapes import Shape

if TYPE_CHECKING:
    from gradtape.core.operation import Op
    from gradtape.core.recording import Recording

# What the bits of a node say. The first few are flags; each tape that is alive owns one of the others.
TENSOR = 1  # set in every node, so that no bit at all means "no tensor among the inputs"
LIFTED = 2  # the tensor belongs to an interpreter (batching): its operations are the interpreter's business
CUT = 4  # a value that left the tape somewhere on the way here
VARIABLE = 8  # a trainable variable: tapes that watch the variables they meet record it
AMBIENT = 16  # the graph behind `.backward()`: a tape that is always on
FIRST_TAPE = 32
FLAGS = TENSOR | LIFTED | CUT  # a node with more bits than these is on some tape, or may be
next_order = count(1).__next__
PARTS = "parts"  # the parameter under which a node of several results keeps their shapes and dtypes


class OperandSpec(NamedTuple):
    """What is known of an operand: None for the shape and dtype of one of which nothing was saved."""

    shape: Shape | None
    dtype: np.dtype[Any] | None
    is_tracked: bool


class Spec(NamedTuple):
    """What a node keeps of an input whose value no rule needs, where rules need to know its shape."""

    shape: Shape
    dtype: np.dtype[Any]


READ = 1  # the accumulated gradient was looked at since it was filled
SPENT = 2  # its tensor was changed after that
ADDED = 4  # another gradient was added to a spent one


class Extra:
    """Attributes that few nodes have: an accumulated gradient, hooks, tangents, or the line that freed the graph."""

    __slots__ = ("added", "freed", "grad", "hooks", "retain", "tangents", "use")

    def __init__(self) -> None:
        self.grad: Any = None
        self.retain = False
        self.hooks: list[Callable[[Any], Any]] = []
        self.tangents: dict[int, Any] = {}
        self.freed: Location | None = None
        self.use = 0  # what has happened to the gradient: READ, SPENT, ADDED
        self.added: Location | None = None  # the backward pass that added to a gradient that was spent


class Node:
    """One recorded operation: its parents, what its gradient rule needs, its shape, dtype and line.

    It is the kernel's `gradtape.explain.model.record.Record`: the properties at the end are what explanations read.
    """

    __slots__ = (
        "__weakref__",
        "bits",
        "code",
        "dtype",
        "extra",
        "inputs",
        "offset",
        "op",
        "order",
        "out",
        "params",
        "parents",
        "recording",
        "shape",
    )

    op: Op | None
    parents: tuple[Node, ...]
    inputs: tuple[Any, ...]
    out: Any
    params: dict[str, Any]
    bits: int
    order: int
    shape: Shape
    dtype: np.dtype[Any]
    # keeps the tapes alive, so that their bits are not reused; or the line that freed this node
    recording: Recording | Location | None
    code: CodeType | None
    offset: int
    extra: Extra | None

    @property
    def ndim(self) -> int:
        """The number of axes of the result."""
        return len(self.shape)

    @property
    def location(self) -> Location:
        """The expression in the user's code that recorded the node."""
        return Location(self.code, self.offset)

    def extras(self) -> Extra:
        """The rarely needed attributes of the node, made on first use to keep nodes small."""
        if self.extra is None:
            self.extra = Extra()
        return self.extra

    @property
    def freed(self) -> Location | None:
        """The line that walked the ambient graph here and freed it, if one did."""
        if isinstance(self.recording, Location):
            return self.recording
        return None if self.extra is None else self.extra.freed

    def values(self, attach: Callable[[Any, Node], Any] | None) -> tuple[Any, tuple[Any, ...]]:
        """The saved result and inputs; as tensors on the graph when `attach` is given."""
        inputs = self.inputs
        if type(inputs) is not tuple:
            inputs = tuple([item.check(self) if type(item) is LockedArray else item for item in inputs])
        if attach is None:
            return self.out, inputs
        pairs = zip(inputs, self.parents, strict=True)
        tracked = tuple(
            [v if v is None or parent is UNTRACKED or type(v) is Spec else attach(v, parent) for v, parent in pairs]
        )
        return None if self.out is None else attach(self.out, self), tracked

    def free_saved(self, others: int) -> None:
        """Drop the saved values, unless the node is on one of the tapes `others`."""
        if not self.bits & others and not self.has_saved_nothing():
            self.inputs, self.out = (), None

    def has_saved_nothing(self) -> bool:
        """Whether the rule of the operation needs no value, so that there is nothing to free."""
        if self.out is not None or len(self.inputs) != len(self.parents):
            return False
        return all(item is None or type(item) is Spec for item in self.inputs)

    # -- what explanations read of it: `gradtape.explain.model.record.Record`

    library: str = ""
    reason: str = ""
    joined: tuple[Cut, ...] = ()

    @property
    def operation(self) -> str:
        """The name of the operation; empty for a leaf."""
        return "" if self.op is None else self.op.name

    @property
    def kind(self) -> str:
        """How the operation was declared ("elementwise", "linear", ...); empty for a leaf."""
        return "" if self.op is None else self.op.kind

    @property
    def place_key(self) -> tuple[Hashable, ...]:
        """A key that all nodes of one expression in the user's code share."""
        return id(self.code), self.offset

    @property
    def is_tracked(self) -> bool:
        """Whether a tape or `.backward()` has recorded the node."""
        return self.bits > FLAGS

    @property
    def is_shared(self) -> bool:
        """Whether this is one of the nodes that all untracked or all lifted tensors have in common."""
        return self is UNTRACKED or self is LIFTED_NODE

    @property
    def requires_grad(self) -> bool:
        """Whether `.backward()` reaches the node."""
        return bool(self.bits & AMBIENT)

    @property
    def is_variable(self) -> bool:
        """Whether the node is the leaf of a `Variable`."""
        return bool(self.bits & VARIABLE)

    @property
    def is_differentiable(self) -> bool:
        """Whether the node is an operation that has a derivative."""
        return self.op is not None and self.op.differentiable

    @property
    def has_several_results(self) -> bool:
        """Whether the operation returned a tuple."""
        return self.op is not None and self.op.several

    @property
    def has_values(self) -> bool:
        """Whether the inputs of the operation were saved and not freed since."""
        return bool(self.inputs)

    @property
    def reports_itself(self) -> bool:
        """Whether the rule behind the node explains NaN and infinity itself, as checkpoints do."""
        return bool(self.inputs) and getattr(self.inputs[-1], "explains_numbers", False)

    def is_on(self, tapes: int) -> bool:
        """Whether one of `tapes`, given as bits, has recorded the node."""
        return bool(self.bits & tapes)

    def selects_by(self, index: int) -> bool:
        """Whether a linear operation needs this input for its derivative, as `where` needs its condition."""
        # a linear rule uses the value of an input for its own gradient only if that selects
        needs = () if self.op is None or self.op.kind != "linear" else self.op.needs or ()
        return bool(needs) and index in needs[index]

    @property
    def operands(self) -> list[OperandSpec]:
        """What is known of each input: shape, dtype, and whether it is tracked."""
        return [self._operand(index, parent) for index, parent in enumerate(self.parents)]

    def _operand(self, index: int, parent: Node) -> OperandSpec:
        if parent.bits > FLAGS:
            return OperandSpec(parent.shape, parent.dtype, True)
        item: Any = self.inputs[index] if index < len(self.inputs) else None
        item = item.array if type(item) is LockedArray else item
        if hasattr(item, "dtype"):
            return OperandSpec(item.shape, item.dtype, False)
        return OperandSpec(None, None, False) if item is None else OperandSpec((), np.result_type(item), False)

    def operand_value(self, index: int) -> Any:
        """The saved array of an input; None if it was not saved."""
        item = self.inputs[index] if index < len(self.inputs) else None
        item = item.array if type(item) is LockedArray else item
        return None if type(item) is Spec else concrete_value(item)

    def value(self) -> Any:
        """The saved result; None if it was not saved."""
        return concrete_value(self.out)

    @property
    def is_cut(self) -> bool:
        """Whether the value left the tape here; see `Cut`."""
        return bool(self.reason)

    def origins(self) -> Iterator[Node]:
        """The nodes that the value was computed from."""
        yield from self.parents

    @property
    def has_lost_origins(self) -> bool:
        """Whether a node that the value was computed from no longer exists; only a `Cut` can tell."""
        return False


class GuardedInputs(tuple[Any, ...]):
    """Saved inputs, some of which are the user's arrays, to be checked for changes before they are used."""

    __slots__ = ()


def concrete_value(value: Any) -> Any:
    """What a value that is being traced, and is on no tape, is in this call; all else as it is."""
    return with_numbers(sample_of(value))


def with_numbers(array: Any) -> Any:
    """The array of a tensor with its numbers: `jit` may not have computed them yet."""
    return array.evaluate() if hasattr(array, "check_later") else array


def sample_of(value: Any) -> Any:
    """The same, where numbers that `jit` has not computed yet stay so."""
    return value._array if hasattr(value, "traced") and value._node.bits <= FLAGS else value


def leaf(shape: Shape, dtype: np.dtype[Any], bits: int) -> Node:
    """A node with nothing behind it: a watched tensor, a variable, a tensor that requires a gradient."""
    node = Node()
    node.op, node.parents, node.inputs, node.out, node.params = None, (), (), None, {}
    node.bits, node.order, node.shape, node.dtype = bits | TENSOR, next_order(), shape, dtype
    node.recording, node.extra = None, None
    frame = user_frame(2)
    node.code, node.offset = (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)
    if bits & AMBIENT:
        note_ambient_leaf(node)
    return node


ambient_leaves: dict[int, weakref.ref[Node]] = {}
"""The leaves that require a gradient and are alive, by their ids. Without any, `.backward()` records nothing."""


def note_ambient_leaf(node: Node) -> None:
    """Keep a leaf that requires a gradient among the `ambient_leaves` for as long as it is alive."""
    key = id(node)
    ambient_leaves[key] = weakref.ref(node, lambda _: ambient_leaves.pop(key, None))


UNTRACKED = leaf((), np.dtype(float), 0)
LIFTED_NODE = leaf((), np.dtype(float), LIFTED)


class Cut(Node):
    """A place where a value left the tape: the node of everything that was made from it afterwards.

    It holds what it was cut from weakly, so that a running average of detached losses keeps no graph alive.
    """

    __slots__ = ("joined", "reason", "sources")

    reason: str
    sources: tuple[weakref.ref[Node], ...]
    joined: tuple[Cut, ...]  # the cuts that met here, if several did

    def origins(self) -> Iterator[Node]:
        """The nodes that the value was computed from before it left the tape, as far as they are alive."""
        yield from self.joined
        yield from (source for reference in self.sources if (source := reference()) is not None)

    @property
    def has_lost_origins(self) -> bool:
        """Whether a tensor that the value was computed from was garbage collected."""
        return any(reference() is None for reference in self.sources)


def cut(reason: str, sources: Iterable[Node], lifted: bool = False) -> Node:
    """A cut at the user's present line."""
    node = Cut()
    node.op, node.parents, node.inputs, node.out, node.params = None, (), (), None, {}
    node.bits, node.order = TENSOR | CUT | (LIFTED if lifted else 0), 0
    node.recording, node.extra, node.shape, node.dtype = None, None, (), np.dtype(float)
    frame = user_frame(2)
    node.code, node.offset = (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)
    node.reason, node.joined = reason, ()
    node.sources = tuple(weakref.ref(source) for source in sources if source is not UNTRACKED)
    return node


JOINED_AT_MOST = 8


def join_cuts(cuts: list[Cut], lifted: bool) -> Node:
    """One node for a value that was computed from several that had left the tape; it has references to a few."""
    joined = cut("several", (), lifted)
    assert isinstance(joined, Cut)
    parts = {part: None for each in cuts for part in (each.joined or (each,))}
    joined.joined = tuple(parts)[:JOINED_AT_MOST]
    return joined


# Values that left the tape as plain numbers or arrays have no tensor to carry their cut: the latest cuts are kept here.
departures: deque[Cut] = deque(maxlen=256)
