"""The graph: what a tensor remembers of how it was made, and the walk back through it.

There is one graph. Which tapes a node is on are bits of one integer, so nested tapes, persistent tapes and the ambient
graph behind `.backward()` are one mechanism, and nothing holds a node but the tensors that were made from it.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from contextvars import ContextVar
from heapq import heappop, heappush
from itertools import count
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.core.location import Location, Walked, user_frame, walked
from gradtape.core.references import COUNTS_LOCALS
from gradtape.core.saved_arrays import Guarded
from gradtape.core.shapes import Shape
from gradtape.explain import messages

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
next_order = count(1).__next__


class Spec(NamedTuple):
    """What a node keeps of an input whose value no rule needs, where rules need to know its shape."""

    shape: Shape
    dtype: np.dtype[Any]


READ = 1  # the accumulated gradient was looked at since it was filled
SPENT = 2  # its tensor was changed after that
ADDED = 4  # another gradient was added to a spent one


class Extra:
    """What few nodes have: an accumulated gradient, hooks, tangents, or the line that freed the graph."""

    __slots__ = ("added", "freed", "grad", "hooks", "retain", "tangents", "use")

    def __init__(self) -> None:
        self.grad: Any = None
        self.retain = False
        self.hooks: list[Callable[[Any], Any]] = []
        self.tangents: dict[int, Any] = {}
        self.freed: Location | None = None
        self.use = 0  # what has become of the gradient: READ, SPENT, ADDED
        self.added: Location | None = None  # the backward pass that added to a gradient that was spent


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
    recording: Recording | Location | None  # keeps the tapes alive, so that no one gets their bits; or who freed this
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
            inputs = tuple([item.checked(self) if type(item) is Guarded else item for item in inputs])
        if attach is None:
            return self.out, inputs
        pairs = zip(inputs, self.parents, strict=True)
        tracked = tuple(
            [v if v is None or parent is UNTRACKED or type(v) is Spec else attach(v, parent) for v, parent in pairs]
        )
        return None if self.out is None else attach(self.out, self), tracked

    def let_go(self, others: int) -> None:
        """Drop the saved values, unless the node is on one of the `others`."""
        if not self.bits & others and not self.has_saved_nothing():
            self.inputs, self.out = (), None

    def has_saved_nothing(self) -> bool:
        """Whether the rule of the operation needs no value, so that there is nothing to free."""
        if self.out is not None or len(self.inputs) != len(self.parents):
            return False
        return all(item is None or type(item) is Spec for item in self.inputs)


class GuardedInputs(tuple[Any, ...]):
    """Saved inputs among which are arrays of the user's, to be checked before they are used."""

    __slots__ = ()


def leaf(shape: Shape, dtype: np.dtype[Any], bits: int) -> Node:
    """A node with nothing behind it: a watched tensor, a variable, a tensor that requires a gradient."""
    node = Node()
    node.op, node.parents, node.inputs, node.out, node.params = None, (), (), None, {}
    node.bits, node.order, node.shape, node.dtype = bits | TENSOR, next_order(), shape, dtype
    node.recording, node.extra = None, None
    frame = user_frame(2)
    node.code, node.offset = (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)
    return node


ZEROS_AT_MOST = 8
SAMPLES = 16


class Birth(NamedTuple):
    """An operation whose rule made NaN, infinity or zeros: the gradient that arrived, and what the rule made of it.

    A rule for large arrays may have written over the gradient: then the two are the same array.
    """

    node: Node
    gradient: Any
    cotangents: Sequence[Any]


class Births(list[Node]):
    """The operations in whose rules a walk noticed that a NaN was made that reached a source.

    `targets` are the values of what is differentiated. `first` is the first operation that made NaN or infinity after
    the walk had begun to let saved values go: it and all that are older have kept theirs. `zeros` are those that made
    zeros of a gradient meanwhile, and have kept theirs too.
    """

    def __init__(self, targets: Sequence[Any] = ()) -> None:
        super().__init__()
        self.targets = targets
        self.first: Birth | None = None
        self.zeros: list[Birth] = []


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


def join_cuts(cuts: list[Cut], lifted: bool) -> Node:
    """One node for a value made of several that had left the tape; it remembers a few of them."""
    joined = cut("several", (), lifted)
    assert isinstance(joined, Cut)
    known = {part: None for each in cuts for part in (each.joined or (each,))}
    joined.joined = tuple(known)[:JOINED_AT_MOST]
    return joined


JOINED_AT_MOST = 8

# Values that left as plain Python numbers or arrays have no tensor to carry their cut: the latest are kept here.
departures: deque[Cut] = deque(maxlen=256)

# What explanations want to look at when a gradient is taken: departures, and results that only then can be judged.
suspects: deque[Any] = deque(maxlen=256)

# How often what was computed at a place, with that shape, was looked at and nothing found.
innocent: dict[tuple[Any, ...], int] = {}
LOOKS_AT_MOST = 32


def suspect(node: Node, entry: Any = None) -> None:
    """Let `node` be judged when a gradient is taken, unless that was done often enough; `entry` tells more about it."""
    if innocent.get((id(node.code), node.offset, node.shape), 0) < LOOKS_AT_MOST:
        suspects.append(weakref.ref(node) if entry is None else entry)


def ails(gradients: Iterable[Any]) -> bool:
    """Whether one of the gradients is zero everywhere, or NaN or infinite somewhere: worth a closer look.

    One dot product each: a sum of squares is 0 or not finite then, and only then or nearly so.
    """
    for gradient in gradients:
        product: Callable[[Any, Any], Any] = np.vdot
        if not isinstance(gradient, (np.ndarray, np.generic)):
            gradient, product = sampled(gradient), _quietly_multiplied
        if isinstance(gradient, (np.ndarray, np.generic)) and gradient.size:
            flat: Any = gradient.ravel("K")  # in the order of its memory, so that nothing is copied
            if not 0.0 < product(flat, flat).real < _INFINITY:
                return True
    return False


def _quietly_multiplied(left: Any, right: Any) -> Any:
    """The dot product, without BLAS: its threads would stay awake for a while, and take cores from the compiler."""
    return np.einsum("i,i", left.conj(), right)


def sampled(value: Any) -> Any:
    """What a value that is being traced, and is on no tape, is in this call; all else as it is."""
    return value._array if hasattr(value, "traced") and value._node.bits <= FLAGS else value


def is_nan(targets: Iterable[Any]) -> bool:
    """Whether a target that is one number is NaN, which no gradient needs to show."""
    return any(value.size == 1 and value != value for value in targets if isinstance(value, (np.ndarray, np.generic)))


_INFINITY = float("inf")

Cotangents = dict[Node, tuple[Any, ...]]
Finish = Callable[[Cotangents, Exception | None], Any]
Observer = Callable[[Iterable[tuple[Node, Any]], int, Iterable[Node] | None, Container[Node]], Finish | None]

# Called before every walk back, while the whole graph is there: a report's collector, when there is one. An observer
# changes nothing. A custom rule is called once, by the walk itself: an observer that needs what custom rules give
# returns a function that is called after the walk with that, or with the error that ended the walk.
observers: list[Observer] = []
_is_observing: ContextVar[bool] = ContextVar("gradtape observing", default=False)


def _observe(looks: Iterable[Callable[..., Any]], *given: Any) -> list[Finish]:
    """Call observers, or what they returned; the walks that they make themselves are not observed."""
    token = _is_observing.set(True)
    try:
        found = [look(*given) for look in looks]
    finally:
        _is_observing.reset(token)
    return [finish for finish in found if finish is not None]


# Asked before a walk over nodes that nobody will walk again to make the graph shorter until it is over; it returns a
# function that makes it what it was. `jit` does so while it traces, where the graph is a loop that Python has run.
shortening: ContextVar[Callable[..., Callable[[], None] | None] | None] = ContextVar(
    "gradtape shortening", default=None
)


def walk(
    seeds: Iterable[tuple[Node, Any]],
    mask: int,
    *,
    sources: Iterable[Node] | None = None,
    beginnings: Container[Node] = (),
    attach: Callable[[Any, Node], Any] | None = None,
    on_leaf: Callable[[Node, Any], None] | None = None,
    visited: list[Node] | None = None,
    births: Births | None = None,
    needed: Container[Node] | None = None,
) -> dict[Node, Any]:
    """Send cotangents back from the seeded nodes along the tapes in `mask`; what arrives at `sources`.

    It goes no further than `beginnings`, whose operations are older than the tape.

    Nodes are visited from the youngest to the oldest, each once, when all its consumers are done; every cotangent is
    compared with the shape and dtype of the tensor it belongs to before it is handed on. With `attach`, saved values
    are tensors on the graph and the walk can itself be recorded. With `visited`, nobody will walk here again: the nodes
    are listed for the caller to release when all is explained, and where arrays are large, their saved values are let
    go at once. With `births`, the operation in whose rule a NaN was made is put there for the caller to explain, and
    what explains a NaN or infinity is not let go. With `needed`, only those nodes are visited, such as `leading_to`
    finds.
    """
    finishing: list[Finish] = []
    if observers and not _is_observing.get():
        seeds = list(seeds)
        finishing = _observe(tuple(observers), seeds, mask, sources, beginnings)
    given: Cotangents | None = {} if finishing else None
    wanted = None if sources is None else set(sources)
    oldest = 0 if wanted is None else min((node.order for node in wanted), default=0)
    raised: list[str] = []  # the floating-point errors since it was cleared: noticing them costs nothing
    shorten = None if visited is None or attach is not None else shortening.get()
    if shorten is not None:
        seeds = list(seeds)
    restore = None if shorten is None else shorten(seeds, mask, wanted or (), oldest, beginnings, visited)
    outer, walked.node = walked.node, None
    try:
        with np.errstate(**_NOTICED, call=lambda kind, _: raised.append(kind)):
            found = _walk(
                seeds, mask, wanted, beginnings, oldest, attach, on_leaf, visited, raised, births, given, needed
            )
    except Exception as error:
        if finishing:
            _observe(finishing, {}, error)
        raise
    finally:
        walked.node = outer
        if restore is not None:
            restore()
    if finishing:
        _observe(finishing, given, None)
    return found


def _walk(
    seeds: Iterable[tuple[Node, Any]],
    mask: int,
    wanted: set[Node] | None,
    beginnings: Container[Node],
    oldest: int,
    attach: Callable[[Any, Node], Any] | None,
    on_leaf: Callable[[Node, Any], None] | None,
    visited: list[Node] | None,
    raised: list[str],
    births: Births | None,
    given: Cotangents | None,
    needed: Container[Node] | None,
) -> dict[Node, Any]:
    culprit: Node | None = None  # where the first NaN was made
    found: dict[Node, Any] = {}
    pending: dict[int, list[Any]] = {}
    heap: list[int] = []
    for node, seed in seeds:
        if node.bits & mask and (needed is None or node in needed):
            _deposit(pending, heap, node, seed)
    ambient = mask & AMBIENT
    # whether a computed tensor may be a source or a beginning; mostly they are leaves
    stops = bool(beginnings) or any(node.parents for node in wanted or ())
    others = ~(mask | (FIRST_TAPE - 1)) | (AMBIENT & ~mask)
    ahead: Node | None = None  # the only node that waits, when no other does: most graphs are chains for long stretches
    gradient: Any = None
    freeing, keep = False, keeping.get()
    while ahead is not None or heap:
        if ahead is not None:
            node, ahead = ahead, None
        else:
            node, gradient = pending.pop(-heappop(heap))
        op, parents = node.op, node.parents
        if node.extra is not None:
            gradient = _on_arrival(node, gradient, on_leaf, ambient)
        if not parents or stops:
            if wanted is not None and node in wanted:
                found[node] = gradient
            if culprit is not None and (not parents or node in found) and _has_nan(gradient):
                if births is None:
                    messages.warn_of_nan(culprit)
                else:
                    births.append(culprit)
                culprit = None
            if not parents or node.order <= oldest or node in beginnings:
                if op is not None:
                    if ambient and node.freed is not None and node.order > oldest:
                        raise messages.freed_twice(node, node.freed)
                elif on_leaf is not None:
                    on_leaf(node, gradient)
                continue
        assert op is not None
        rule = op.reverse
        if not op.several:
            large = gradient.nbytes > LARGE
        elif op.part is not None:
            large = gradient.nbytes > LARGE
            _deposit_part(pending, heap, parents[0], op.part, gradient)
            parents = ()
        else:
            large = False
            gradient = _fill_missing(node, gradient)
        if large:
            rule = op.reverse_large or rule
            if visited is not None and not freeing and not keep:
                freeing = births is None or (
                    all(map(is_finite, births.targets))
                    and is_finite(gradient)
                    and all(is_finite(row[1]) for row in pending.values())
                )
                keep = not freeing  # what was visited already may explain it
                for other in visited if freeing else ():
                    if not _is_of_numbers(other):
                        other.let_go(others)
        was_zero = freeing and is_zero(gradient)
        if attach is None and type(node.inputs) is tuple:
            cotangents = rule(gradient, node, node.out, node.inputs)
        else:
            if attach is not None:
                walked.node = node
            cotangents = rule(gradient, node, *node.values(attach))
        if given is not None and op.kind == "custom":
            given[node] = cotangents = tuple(cotangents)
        if raised or (freeing and op.is_unflagged):
            if culprit is None and INVALID in raised and not _has_nan(gradient) and any(map(_has_nan, cotangents)):
                culprit = node
            raised.clear()
            if freeing and births is not None and not all(map(is_finite, cotangents)):
                births.first, freeing, keep = Birth(node, gradient, cotangents), False, True
        explains_zero = freeing and births is not None and not was_zero and any(map(is_zero, cotangents))
        if explains_zero and births is not None and len(births.zeros) < ZEROS_AT_MOST:
            births.zeros.append(Birth(node, gradient, cotangents))
        for parent, cotangent in zip(parents, cotangents):
            if cotangent is None or not parent.bits & mask or parent.order < oldest:
                continue
            if needed is not None and parent not in needed:
                continue
            if cotangent.shape != parent.shape or cotangent.dtype is not parent.dtype:
                cotangent = _fit(cotangent, parent, node)
            if ahead is None and not heap:
                ahead, gradient = parent, cotangent
            elif ahead is parent:
                gradient = gradient + cotangent
            else:
                if ahead is not None:
                    _deposit(pending, heap, ahead, gradient)
                    ahead = None
                _deposit(pending, heap, parent, cotangent)
        cotangents = cotangent = None  # so that the next rule may find itself the only one to hold a gradient
        if visited is not None:
            visited.append(node)
            if freeing and not explains_zero and not _is_of_numbers(node):
                node.let_go(others)
    return found


def _is_of_numbers(node: Node) -> bool:
    """Whether an operation has to do with single numbers only: they take no room, and tell where a NaN came from."""
    return not node.shape and not any(parent.shape for parent in node.parents)


Walked.code = _walk.__code__

INVALID = "invalid value"
_NOTICED: Any = {"under": "ignore", "over": "call", "divide": "call", "invalid": "call"}


class FreedNode(Location):
    """The line that freed a node, and what its parents were: a later walk can tell whether it would lead here."""

    def __init__(self, freed: Location, parents: tuple[Node, ...]) -> None:
        super().__init__(freed.code, freed.offset)
        self.parents = parents


def leading_to(sources: Iterable[Node], seeds: Iterable[tuple[Node, Any]], mask: int) -> set[Node]:
    """The nodes on the ways from the seeds to `sources`, those that were freed by `release_saved` included."""
    needed = set(sources)
    oldest = min((node.order for node in needed), default=0)
    reached: dict[Node, tuple[Node, ...]] = {}
    pending = [node for node, _ in seeds]
    while pending:
        node = pending.pop()
        if node in reached or node.order < oldest or not node.bits & mask:
            continue
        reached[node] = node.recording.parents if isinstance(node.recording, FreedNode) else node.parents
        pending.extend(reached[node])
    for node in sorted(reached, key=lambda node: node.order):
        lost = not reached[node] and node.op is not None  # freed with all it held: where it led to is not known
        if lost or any(parent in needed for parent in reached[node]):
            needed.add(node)
    return needed


def release_saved(nodes: Iterable[Node], freed: Location) -> None:
    """Free the saved values of `nodes` on the graph behind `.backward()`; those that saved none can be walked again."""
    for node in nodes:
        if node.has_saved_nothing():
            continue
        if node.bits > FIRST_TAPE - 1:
            node.extras().freed = freed
        else:
            entry = FreedNode(freed, node.parents)
            node.recording, node.inputs, node.parents, node.out = entry, (), (), None


def release(nodes: Iterable[Node], mask: int, freed: Location) -> None:
    """Take `nodes` off the tapes in `mask`, in the name of a line; those on no other let go of all that they hold."""
    flags = FIRST_TAPE - 1
    if mask & AMBIENT:  # the bit stays: a later use must not be taken for a constant
        for node in nodes:
            if node.bits > flags:
                node.extras().freed = freed
            else:
                node.recording, node.inputs, node.parents, node.out = freed, (), (), None
        return
    kept = ~(mask & ~flags)
    for node in nodes:
        node.bits = bits = node.bits & kept
        if bits <= flags and (not bits & AMBIENT or node.freed is not None):
            node.recording, node.inputs, node.parents, node.out = None, (), (), None


def is_whole(nodes: Iterable[Node]) -> bool:
    """Whether the nodes of a walk that was broken off still have what they saved, so that it can be tried again."""
    return all(node.inputs or not node.parents for node in nodes)


def _has_nan(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc" and bool(np.isnan(value).any())


def is_finite(value: Any) -> bool:
    """Whether there is no NaN and no infinity in a value; what is no array of numbers counts as finite."""
    is_number = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"
    return not is_number or bool(np.isfinite(value).all())


def is_zero(value: Any) -> bool:
    """Whether an array is zero everywhere; some elements are looked at first, which mostly tells that it is not."""
    if not isinstance(value, np.ndarray) or not value.size:
        return False
    flat = value.reshape(-1) if value.flags.c_contiguous else value[(slice(0, 1),) * value.ndim]
    return not flat[:: -(-flat.size // SAMPLES)].any() and not value.any()


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
        total = slot[1]
        slot[1] = None
        if total.nbytes > LARGE and is_spare(sys.getrefcount(total) + 1, total):
            slot[1] = np.add(total, cotangent, total)
        else:
            slot[1] = total + cotangent


# Whether saved values are kept even where they are large, until what came of them has been checked.
keeping: ContextVar[bool] = ContextVar("gradtape keeping", default=False)

LARGE = 1 << 16  # bytes, from which it pays to ask whether an array can be written over


def is_spare(holders: int, array: Any) -> bool:
    """Whether a cotangent can be written over, because only the walk and the rule it was handed to hold it.

    `holders` is what `sys.getrefcount` said in the rule.
    """
    return type(array) is np.ndarray and holders <= _HOLDERS and array.base is None and array.flags.writeable


def _walk_alone() -> int:
    """How many references are counted in a rule, where nobody but the walk and the rule hold a cotangent."""

    def rule(g: Any, node: Any) -> int:
        return sys.getrefcount(g)

    gradient = np.empty(1)
    return rule(gradient, None)


_HOLDERS = _walk_alone() if COUNTS_LOCALS else 0  # where they are not counted, nothing is spare


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


def _on_arrival(node: Node, gradient: Any, on_leaf: Callable[[Node, Any], None] | None, ambient: int) -> Any:
    """Run the hooks of a node, and keep its gradient if that was asked for; the gradient to go on with."""
    assert node.extra is not None
    for hook in tuple(node.extra.hooks):
        replaced = hook(gradient)
        if replaced is not None:
            if tuple(np.shape(replaced)) != node.shape:
                raise messages.wrong_hook_shape(node, tuple(np.shape(replaced)), hook)
            gradient = replaced
    if node.extra.retain and node.op is not None and on_leaf is not None:
        on_leaf(node, gradient)
    if ambient and node.extra.freed is not None:
        raise messages.freed_twice(node, node.extra.freed)
    return gradient


def _fit(cotangent: Any, parent: Node, node: Node) -> Any:
    """`cotangent` in the dtype of `parent`; a wrong shape is blamed on the rule."""
    if cotangent.shape != parent.shape:
        index = next(i for i, p in enumerate(node.parents) if p is parent)
        raise messages.wrong_rule_shape(node, index, cotangent.shape, parent.shape)
    if cotangent.dtype == parent.dtype:
        return cotangent
    if cotangent.dtype.kind == "c" and parent.dtype.kind != "c":
        cotangent = cotangent.real
    return cotangent.astype(parent.dtype)
