"""The backward pass: `walk` sends cotangents through the graph, and `release` frees what it has visited."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable
from contextvars import ContextVar
from heapq import heappop, heappush
from typing import Any

import numpy as np

from gradtape.core.explain_hooks import (
    ZEROS_AT_MOST,
    Cotangents,
    Finish,
    NanOrigins,
    RuleCall,
    has_nan,
    is_finite,
    is_observing,
    is_zero,
    observe,
    observers,
)
from gradtape.core.graph import AMBIENT, FIRST_TAPE, PARTS, Node
from gradtape.core.location import Location, Walked, walked
from gradtape.core.references import COUNTS_LOCALS
from gradtape.explain import messages

LARGE = 1 << 16  # bytes, from which it pays to ask whether an array can be written over
INVALID = "invalid value"
_NOTICED: Any = {"under": "ignore", "over": "call", "divide": "call", "invalid": "call"}

# Whether saved values are kept even where they are large, until what came of them has been checked.
keeping: ContextVar[bool] = ContextVar("gradtape keeping", default=False)

# Hook, called before a one-shot backward pass: may collapse loops in the graph, and returns a function that undoes it.
# `jit` sets it while it traces, where the graph is a loop that Python has run.
shortening: ContextVar[Callable[..., Callable[[], None] | None] | None] = ContextVar(
    "gradtape shortening", default=None
)


def walk(
    seeds: Iterable[tuple[Node, Any]],
    mask: int,
    *,
    sources: Iterable[Node] | None = None,
    boundary: Container[Node] = (),
    attach: Callable[[Any, Node], Any] | None = None,
    on_leaf: Callable[[Node, Any], None] | None = None,
    visited: list[Node] | None = None,
    nan_origins: NanOrigins | None = None,
    needed: Container[Node] | None = None,
) -> dict[Node, Any]:
    """Send cotangents back from the seeded nodes along the tapes in `mask`; what arrives at `sources`.

    It goes no further than `boundary`, whose operations are older than the tape.

    Nodes are visited from the youngest to the oldest, each once, when all its consumers are done; every cotangent is
    compared with the shape and dtype of the tensor it belongs to before it is handed on. With `attach`, saved values
    are tensors on the graph and the walk can itself be recorded. With `visited`, this is the last walk here: the nodes
    are listed for the caller to release when all is explained, and where arrays are large, their saved values are let
    go at once. With `nan_origins`, the operation in whose rule a NaN was made is put there for the caller to explain, and
    what explains a NaN or infinity is not let go. With `needed`, only those nodes are visited, such as `leading_to`
    finds.
    """
    finishing: list[Finish] = []
    if observers and not is_observing.get():
        seeds = list(seeds)
        finishing = observe(tuple(observers), seeds, mask, sources, boundary)
    given: Cotangents | None = {} if finishing else None
    wanted = None if sources is None else set(sources)
    oldest = 0 if wanted is None else min((node.order for node in wanted), default=0)
    raised: list[str] = []  # the floating-point errors since it was cleared: noticing them costs nothing
    shorten = None if visited is None or attach is not None else shortening.get()
    if shorten is not None:
        seeds = list(seeds)
    restore = None if shorten is None else shorten(seeds, mask, wanted or (), oldest, boundary, visited)
    outer, walked.node = walked.node, None
    try:
        with np.errstate(**_NOTICED, call=lambda kind, _: raised.append(kind)):
            found = _walk(
                seeds, mask, wanted, boundary, oldest, attach, on_leaf, visited, raised, nan_origins, given, needed
            )
    except Exception as error:
        if finishing:
            observe(finishing, {}, error)
        raise
    finally:
        walked.node = outer
        if restore is not None:
            restore()
    if finishing:
        observe(finishing, given, None)
    return found


def _walk(
    seeds: Iterable[tuple[Node, Any]],
    mask: int,
    wanted: set[Node] | None,
    boundary: Container[Node],
    oldest: int,
    attach: Callable[[Any, Node], Any] | None,
    on_leaf: Callable[[Node, Any], None] | None,
    visited: list[Node] | None,
    raised: list[str],
    nan_origins: NanOrigins | None,
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
    stops = bool(boundary) or any(node.parents for node in wanted or ())
    others = ~(mask | (FIRST_TAPE - 1)) | (AMBIENT & ~mask)
    ahead: Node | None = None  # the only node that waits, when no other does: most graphs are chains for long stretches
    gradient: Any = None
    freeing, keep = False, keep_saved.get()
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
            if culprit is not None and (not parents or node in found) and has_nan(gradient):
                if nan_origins is None:
                    messages.warn_of_nan(culprit)
                else:
                    nan_origins.append(culprit)
                culprit = None
            if not parents or node.order <= oldest or node in boundary:
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
                freeing = nan_origins is None or (
                    all(map(is_finite, nan_origins.targets))
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
            if culprit is None and INVALID in raised and not has_nan(gradient) and any(map(has_nan, cotangents)):
                culprit = node
            raised.clear()
            if freeing and nan_origins is not None and not all(map(is_finite, cotangents)):
                nan_origins.first_nonfinite, freeing, keep = RuleCall(node, gradient, cotangents), False, True
        explains_zero = freeing and nan_origins is not None and not was_zero and any(map(is_zero, cotangents))
        if explains_zero and nan_origins is not None and len(nan_origins.zeros) < ZEROS_AT_MOST:
            nan_origins.zeros.append(RuleCall(node, gradient, cotangents))
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


Walked.code = _walk.__code__


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


def _deposit_part(pending: dict[int, list[Any]], heap: list[int], node: Node, part: int, cotangent: Any) -> None:
    """Hand the cotangent of one of several results to the operation that made them all."""
    slot = pending.get(node.order)
    if slot is None:
        assert node.op is not None
        slot = pending[node.order] = [node, [None] * len(node.params[PARTS])]
        heappush(heap, -node.order)
    slot[1][part] = cotangent if slot[1][part] is None else slot[1][part] + cotangent


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


def _is_of_numbers(node: Node) -> bool:
    """Whether an operation has to do with single numbers only: they take no room, and tell where a NaN came from."""
    return not node.shape and not any(parent.shape for parent in node.parents)


def is_spare(holders: int, array: Any) -> bool:
    """Whether a cotangent can be written over, because only the walk and the rule it was handed to hold it.

    `holders` is what `sys.getrefcount` said in the rule.
    """
    return type(array) is np.ndarray and holders <= _HOLDERS and array.base is None and array.flags.writeable


def _walk_alone() -> int:
    """How many references are counted in a rule, where only the walk and the rule hold a cotangent."""

    def rule(g: Any, node: Any) -> int:
        return sys.getrefcount(g)

    gradient = np.empty(1)
    return rule(gradient, None)


_HOLDERS = _walk_alone() if COUNTS_LOCALS else 0  # where they are not counted, nothing is spare


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
