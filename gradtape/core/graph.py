"""The graph: what a tensor remembers of how it was made, and the walk back through it.

There is one graph. Which tapes a node is on are bits of one integer, so nested tapes, persistent tapes and the ambient
graph behind `.backward()` are one mechanism, and nothing holds a node but the tensors that were made from it.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.core.guard import Guarded
from gradtape.core.location import Location, user_frame
from gradtape.core.shapes import Shape
from gradtape.errors import RuleError, TapeError

if TYPE_CHECKING:
    from gradtape.core.operation import Op
    from gradtape.core.recording import Recording

# What the bits of a node say. The first few are flags; each tape that is alive owns one of the others.
TENSOR = 1  # set in every node, so that no bit at all means "no tensor among the inputs"
LIFTED = 2  # the tensor belongs to an interpreter (batching): its operations are the interpreter's business
CUT = 4  # a value that left the tape somewhere on the way here
VARIABLE = 8  # a trainable variable: tapes that watch what they meet record it
AMBIENT = 16  # the graph behind `.backward()`: a tape that is always on
FIRST_TAPE = 32
FLAGS = TENSOR | LIFTED | CUT  # a node with more bits than these is on some tape, or may be
_next_order = count(1).__next__


class Spec(NamedTuple):
    """What a node keeps of an input whose value no rule needs, where rules need to know its shape."""

    shape: Shape
    dtype: np.dtype[Any]


class Extra:
    """What few nodes have: an accumulated gradient, hooks, tangents, or the line that freed the graph."""

    __slots__ = ("freed", "grad", "hooks", "retain", "tangents")

    def __init__(self) -> None:
        self.grad: Any = None
        self.retain = False
        self.hooks: list[Callable[[Any], Any]] = []
        self.tangents: dict[int, Any] = {}
        self.freed: Location | None = None


class Node:
    """One recorded operation: its parents, what its gradient rule needs, its shape, dtype and line."""

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
    recording: Recording | None  # keeps the tapes alive, so that their bits are not given to others
    code: CodeType | None
    offset: int
    extra: Extra | None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def location(self) -> Location:
        return Location(self.code, self.offset)

    def extras(self) -> Extra:
        if self.extra is None:
            self.extra = Extra()
        return self.extra

    def values(self, attach: Callable[[Any, Node], Any] | None) -> tuple[Any, tuple[Any, ...]]:
        """The saved result and inputs; as tensors on the graph when `attach` is given."""
        inputs = tuple([item.checked(self) if type(item) is Guarded else item for item in self.inputs])
        if attach is None:
            return self.out, inputs
        pairs = zip(inputs, self.parents, strict=True)
        tracked = tuple([v if v is None or type(v) is Spec else attach(v, parent) for v, parent in pairs])
        return None if self.out is None else attach(self.out, self), tracked

    def release(self, mask: int, freed: Location | None = None) -> None:
        """Take the node off the tapes in `mask`; when it is on none any more, let go of all it saved."""
        if mask & AMBIENT:  # the bit stays: a later use must not be taken for a constant
            self.extras().freed = freed
            keep = self.bits & ~(FIRST_TAPE - 1) & ~mask
        else:
            self.bits &= ~mask
            keep = self.bits & ~(FIRST_TAPE - 1)
            if self.bits & AMBIENT and not (self.extra and self.extra.freed):
                keep |= AMBIENT
        if not keep:
            self.inputs, self.parents, self.out, self.recording = (), (), None, None


def leaf(shape: Shape, dtype: np.dtype[Any], bits: int) -> Node:
    """A node with nothing behind it: a watched tensor, a variable, a tensor that requires a gradient."""
    node = Node()
    node.op, node.parents, node.inputs, node.out, node.params = None, (), (), None, {}
    node.bits, node.order, node.shape, node.dtype = bits | TENSOR, _next_order(), shape, dtype
    node.recording, node.extra = None, None
    frame = user_frame(2)
    node.code, node.offset = (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)
    return node


UNTRACKED = leaf((), np.dtype(float), 0)
LIFTED_NODE = leaf((), np.dtype(float), LIFTED)


class Cut(Node):
    """A place where a value left the tape: the node of everything that was made from it afterwards.

    It holds what it was cut from weakly, so that a running average of detached losses keeps no graph alive.
    """

    __slots__ = ("reason", "sources")

    reason: str
    sources: tuple[weakref.ref[Node], ...]


def cut(reason: str, sources: Iterable[Node], lifted: bool = False) -> Node:
    """A cut at the user's present line."""
    node = Cut()
    node.op, node.parents, node.inputs, node.out, node.params = None, (), (), None, {}
    node.bits, node.order = TENSOR | CUT | (LIFTED if lifted else 0), 0
    node.recording, node.extra, node.shape, node.dtype = None, None, (), np.dtype(float)
    frame = user_frame(2)
    node.code, node.offset = (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)
    node.reason = reason
    node.sources = tuple(weakref.ref(source) for source in sources if source is not UNTRACKED)
    return node


# Values that left as plain Python numbers or arrays have no tensor to carry their cut: the latest are kept here.
departures: deque[Cut] = deque(maxlen=256)


def walk(
    seeds: Iterable[tuple[Node, Any]],
    mask: int,
    *,
    sources: Iterable[Node] | None = None,
    attach: Callable[[Any, Node], Any] | None = None,
    on_leaf: Callable[[Node, Any], None] | None = None,
    release: Location | None = None,
) -> dict[Node, Any]:
    """Send cotangents back from the seeded nodes along the tapes in `mask`; what arrives at `sources`.

    Nodes are visited from the youngest to the oldest, each once, when all its consumers are done; every cotangent is
    compared with the shape and dtype of the tensor it belongs to before it is handed on. With `attach`, saved values
    are tensors on the graph and the walk can itself be recorded. With `release`, the walk frees what it visits, in
    the name of the line given.
    """
    wanted = None if sources is None else set(sources)
    oldest = 0 if wanted is None else min((node.order for node in wanted), default=0)
    with np.errstate(all="ignore"):  # what is not finite is found and explained by gradtape's own checks
        return _walk(seeds, mask, wanted, oldest, attach, on_leaf, release)


def _walk(
    seeds: Iterable[tuple[Node, Any]],
    mask: int,
    wanted: set[Node] | None,
    oldest: int,
    attach: Callable[[Any, Node], Any] | None,
    on_leaf: Callable[[Node, Any], None] | None,
    release: Location | None,
) -> dict[Node, Any]:
    found: dict[Node, Any] = {}
    pending: dict[int, list[Any]] = {}
    heap: list[int] = []
    for node, seed in seeds:
        if node.bits & mask:
            _deposit(pending, heap, node, seed)
    while heap:
        node, gradient = pending.pop(-heappop(heap))
        extra = node.extra
        if extra is not None and extra.hooks:
            gradient = _run_hooks(node, gradient)
        if wanted is not None and node in wanted:
            found[node] = gradient
        op = node.op
        if on_leaf is not None and (op is None or (extra is not None and extra.retain)):
            on_leaf(node, gradient)
        if op is None:
            continue
        if extra is not None and extra.freed is not None and mask & AMBIENT:
            raise _freed_twice(node, extra.freed)
        if node.order > oldest and node.parents:
            out, inputs = node.values(attach)
            if op.outputs:
                gradient = _fill_missing(node, gradient)
            cotangents = op.reverse(gradient, node, out, inputs)
            for parent, cotangent in zip(node.parents, cotangents, strict=True):
                if cotangent is None or not parent.bits & mask or parent.order < oldest:
                    continue
                if op.part is not None:
                    _deposit_part(pending, heap, parent, op.part, cotangent)
                    continue
                if cotangent.shape != parent.shape or cotangent.dtype != parent.dtype:
                    cotangent = _fit(cotangent, parent, node)
                slot = pending.get(parent.order)
                if slot is None:
                    pending[parent.order] = [parent, cotangent]
                    heappush(heap, -parent.order)
                else:
                    slot[1] = slot[1] + cotangent
        if release is not None:
            node.release(mask, release)
    return found


def push_through(
    targets: list[Node], tangents: dict[Node, Any], mask: int, attach: Callable[[Any, Node], Any] | None
) -> list[Any]:
    """Send tangents forward along a recorded graph; those of `targets`, None where nothing arrives."""
    reached: dict[Node, None] = {}
    pending = [target for target in targets if target.bits & mask]
    while pending:
        node = pending.pop()
        if node not in reached:
            reached[node] = None
            pending.extend(parent for parent in node.parents if parent.bits & mask)
    moving = {node: tangent for node, tangent in tangents.items() if tangent is not None}
    with np.errstate(all="ignore"):
        for node in sorted(reached, key=lambda node: node.order):
            if node in moving or node.op is None or not any(parent in moving for parent in node.parents):
                continue
            if node.op.part is not None:
                tangent = moving[node.parents[0]][node.op.part]
            else:
                assert node.op.forward is not None
                out, inputs = node.values(attach)
                tangent = node.op.forward(node, out, inputs, [moving.get(parent) for parent in node.parents])
            if tangent is not None:
                moving[node] = tangent
    return [moving.get(target) for target in targets]


def _deposit(pending: dict[int, list[Any]], heap: list[int], node: Node, cotangent: Any) -> None:
    slot = pending.get(node.order)
    if slot is None:
        pending[node.order] = [node, cotangent]
        heappush(heap, -node.order)
    else:
        slot[1] = slot[1] + cotangent


def _deposit_part(pending: dict[int, list[Any]], heap: list[int], node: Node, part: int, cotangent: Any) -> None:
    """Hand the cotangent of one of several results to the operation that made them all."""
    slot = pending.get(node.order)
    if slot is None:
        assert node.op is not None
        slot = pending[node.order] = [node, [None] * len(node.params[PARTS])]
        heappush(heap, -node.order)
    slot[1][part] = cotangent if slot[1][part] is None else slot[1][part] + cotangent


PARTS = "parts"  # the parameter under which a node of several results keeps their shapes and dtypes


def _fill_missing(node: Node, parts: list[Any]) -> list[Any]:
    specs = node.params[PARTS]
    return [np.zeros(*spec) if part is None else part for part, spec in zip(parts, specs, strict=True)]


def _run_hooks(node: Node, gradient: Any) -> Any:
    assert node.extra is not None
    for hook in tuple(node.extra.hooks):
        replaced = hook(gradient)
        if replaced is not None:
            if tuple(np.shape(replaced)) != node.shape:
                raise RuleError(
                    f"a hook returned a gradient of shape {tuple(np.shape(replaced))} for a tensor of shape "
                    f"{node.shape}.\n{node.location.show()}\n"
                    f"  fix: return None to leave the gradient as it is, or a gradient of shape {node.shape}"
                )
            gradient = replaced
    return gradient


def _fit(cotangent: Any, parent: Node, node: Node) -> Any:
    """`cotangent` in the dtype of `parent`; a wrong shape, or a custom rule's wrong dtype, is blamed on `node`'s rule."""
    op = node.op
    assert op is not None
    index = next(i for i, p in enumerate(node.parents) if p is parent)
    if cotangent.shape != parent.shape:
        raise RuleError(
            f"the gradient rule of {op.name!r} returned shape {cotangent.shape} for argument {index}, which has shape "
            f"{parent.shape}.\n{node.location.show()}\n"
            f"  a gradient has the shape of what it is the gradient of; it is never summed or stretched into place\n"
            f"  fix: make the rule return shape {parent.shape} for argument {index}"
        )
    if op.strict:
        raise RuleError(
            f"the gradient rule of {op.name!r} returned dtype {cotangent.dtype} for argument {index}, which has dtype "
            f"{parent.dtype}.\n{node.location.show()}\n"
            f"  fix: return gradient.astype({str(parent.dtype)!r})"
        )
    if cotangent.dtype.kind == "c" and parent.dtype.kind != "c":
        cotangent = cotangent.real
    return cotangent.astype(parent.dtype)


def _freed_twice(node: Node, first: Location) -> TapeError:
    assert node.op is not None
    return TapeError(
        f"this graph was freed by an earlier backward.\n"
        f"  first walked and freed by\n{first.show()}\n"
        f"  shared with this call: the result of {node.op.name!r}, made at\n{node.location.show()}\n"
        f"  fix: if the shared part was made outside the loop, make it inside (or .detach() it);\n"
        f"       to walk the same graph again, pass retain_graph=True to the first call"
    )
