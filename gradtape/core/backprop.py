"""The backward pass: `walk` sends cotangents through the graph, and `release` frees what it has visited."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from contextvars import ContextVar
from heapq import heappop, heappush
from typing import Any

import numpy as np

from gradtape.core.explain_hooks import (
    ZEROS_AT_MOST,
    Cotangents,
    Finish,
    FinishedWalk,
    NanOrigins,
    ReverseRuleCall,
    call_observers,
    has_nan,
    is_finite,
    is_observing,
    is_zero,
    keep_leaf_gradients,
    observers,
    walk_observers,
)
from gradtape.core.graph import AMBIENT, FIRST_TAPE, LIFTED, PARTS, Node
from gradtape.core.location import Location, LocationOverride, overrides
from gradtape.core.references import COUNTS_LOCALS
from gradtape.core.structural_zeros import Choice, NonfiniteAfterChoice, StructuralZeros, chooses
from gradtape.explain import messages

LARGE = 1 << 16  # bytes; from this size on, saved values are freed early and gradients are written over
INVALID = "invalid value"
_PLAIN = (np.ndarray, np.float64, np.float32, np.complex128)
_ERROR_HANDLING: Any = {"under": "ignore", "over": "call", "divide": "call", "invalid": "call"}

# Whether saved values are kept, large ones too, until `check_numerics` has looked at the results.
keep_saved: ContextVar[bool] = ContextVar("gradtape keep saved", default=False)

# Called before a walk that is the last over its nodes: it may collapse loops in the graph, and returns a function that
# undoes that. `jit` sets it while it traces, where the graph has every iteration of a loop that Python has run.
collapse_hook: ContextVar[Callable[..., Callable[[], None] | None] | None] = ContextVar(
    "gradtape collapse hook", default=None
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
    """Send cotangents back from the seeded nodes along the tapes in `mask`; the gradients of `sources` by their nodes.

    Nodes are visited from the youngest to the oldest, each once, when all its consumers are done. Every cotangent is
    compared with the shape and dtype of the tensor it belongs to before it is handed on.

    - `boundary`: nodes where the walk ends, because their operations are older than the tape.
    - `attach`: makes saved values tensors on the graph, so that the walk itself is recorded.
    - `on_leaf`: is called with each leaf and its gradient.
    - `visited`: this is the last walk here. Nodes are listed for the caller to release after explanations; where arrays
      are large, their saved values are freed at once.
    - `nan_origins`: gets the operations whose rules produced NaN, for the caller to explain; without it there is a
      warning. Saved values that explain a NaN or an infinity are not freed.
    - `needed`: only these nodes are visited, such as those of `nodes_leading_to`.
    """
    finishing: list[Finish] = []
    seeds = list(seeds)
    if observers and not is_observing.get():
        finishing = call_observers(tuple(observers), seeds, mask, sources, boundary)
    custom_cotangents: Cotangents | None = {} if finishing else None
    arrived: dict[Node, Any] | None = None
    if walk_observers and not is_observing.get():
        arrived = {}
        on_leaf = None if on_leaf is None else keep_leaf_gradients(on_leaf, arrived)
    wanted = None if sources is None else set(sources)
    oldest = 0 if wanted is None else min((node.order for node in wanted), default=0)
    fp_errors: list[str] = []  # what NumPy has reported since it was cleared
    collapse = None if visited is None or attach is not None else collapse_hook.get()
    restore = None if collapse is None else collapse(seeds, mask, wanted or (), oldest, boundary, visited)
    override = _WalkOverride()
    override.node, override.is_recorded = None, attach is not None
    override.outer, overrides.innermost = overrides.innermost, override
    try:
        with np.errstate(**_ERROR_HANDLING, call=lambda kind, _: fp_errors.append(kind)):
            given = (
                mask,
                wanted,
                boundary,
                oldest,
                attach,
                on_leaf,
                visited,
                fp_errors,
                nan_origins,
                custom_cotangents,
                needed,
                override,
            )
            try:
                found = _walk(seeds, *given, None)
            except NonfiniteAfterChoice as first:
                _forget(visited, fp_errors, nan_origins)
                found = _walk(seeds, *given, first)
    except Exception as error:
        if finishing:
            call_observers(finishing, {}, error)
        raise
    finally:
        overrides.innermost = override.outer
        if restore is not None:
            restore()
    if finishing:
        call_observers(finishing, custom_cotangents, None)
    if arrived is not None:
        targets = () if nan_origins is None else nan_origins.targets
        call_observers(tuple(walk_observers), FinishedWalk(seeds, mask, sources, targets, {**arrived, **found}))
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
    fp_errors: list[str],
    nan_origins: NanOrigins | None,
    custom_cotangents: Cotangents | None,
    needed: Container[Node] | None,
    override: LocationOverride,
    first: NonfiniteAfterChoice | None,
) -> dict[Node, Any]:
    """The loop of the backward pass: take the youngest node that waits, call its rule, hand its cotangents on.

    `pending` has the nodes that wait, with the sum of the cotangents that arrived there, by their order numbers; `heap`
    has these numbers, negated, so that the youngest is first. `following` is the only node that waits, when no other
    does: most graphs are chains for long stretches, which then need no heap.

    Rules are called from this function, which holds the gradient in one variable: rules for large arrays count the
    references to it, to know whether they may write over it (`is_spare`). What few walks need is in helpers and in
    `_Monitor`, which is made when an array is large or NumPy reports an error: made for every walk, it takes 5 % of the
    time of a walk over three operations.

    Behind an operation that chooses elements, zeros by structure are followed (`StructuralZeros`) if values are not
    plain arrays or are freed on the way. Else a gradient that is not finite ends the walk, and it is made once more
    with `first`, what the first walk has done, and follows them.
    """
    found: dict[Node, Any] = {}
    pending: dict[int, list[Any]] = {}
    heap: list[int] = []
    for node, seed in seeds:
        if node.bits & mask and (needed is None or node in needed):
            _deposit(pending, heap, node, seed)
    # whether a computed tensor may be a source or on the boundary; mostly they are leaves
    may_end_early = bool(boundary) or any(node.parents for node in wanted or ())
    monitor: _Monitor | None = None
    choice: Choice | None = None
    hooked: dict[Node, Any] = {}
    delivered: list[Node] = []
    following: Node | None = None
    gradient: Any = None
    while following is not None or heap:
        # Take the youngest node that waits: all its consumers are done, so its gradient is complete.
        if following is not None:
            node, following = following, None
        else:
            node, gradient = pending.pop(-heappop(heap))
        override.node = node
        op, parents = node.op, node.parents
        if node.extra is not None:
            if choice is not None:
                choice.check(gradient)
            if first is not None and node in first.hooked:
                replaced = first.hooked[node]
            else:
                replaced = hooked[node] = _on_arrival(node, gradient, on_leaf, mask & AMBIENT)
            if replaced is not None:
                gradient = replaced
                if monitor is not None and monitor.structural_zeros is not None:
                    monitor.structural_zeros.forget(node)
        if not parents or may_end_early:
            if wanted is not None and node in wanted:
                found[node] = gradient
            if choice is not None and (not parents or node in found):
                choice.check(gradient)
            if monitor is not None and (not parents or node in found):
                monitor.on_arrival(gradient)
            if not parents or node.order <= oldest or node in boundary:
                if op is not None:
                    _check_not_freed(node, mask, oldest)
                elif on_leaf is not None and (first is None or node not in first.delivered):
                    on_leaf(node, gradient)
                    delivered.append(node)
                continue

        # Call its rule.
        assert op is not None
        rule = op.reverse
        if not op.is_special:
            is_large = gradient.nbytes > LARGE
        elif op.reads_part:
            is_large = math.prod(parents[0].shape) * parents[0].dtype.itemsize > LARGE
        elif op.several:
            is_large, gradient, parents = _exchange_parts(pending, heap, node, gradient)
        else:
            is_large = gradient.nbytes > LARGE
            if choice is None and (monitor is None or monitor.structural_zeros is None) and chooses(node):
                is_plain = attach is None and not node.bits & LIFTED and type(gradient) in _PLAIN
                if first is None and is_plain and (monitor is None or not monitor.is_freeing):
                    choice = Choice(pending, 0 if visited is None else len(visited), hooked, delivered)
                else:
                    monitor = monitor or _Monitor(mask, visited, nan_origins, fp_errors)
                    monitor.structural_zeros = StructuralZeros(pending, attach)
        if is_large:
            rule = op.reverse_large or rule
            if visited is not None:
                monitor = monitor or _Monitor(mask, visited, nan_origins, fp_errors)
                if choice is not None:
                    choice = monitor.start_freeing_after_choice(choice, gradient, pending)
                else:
                    monitor.start_freeing(gradient, pending)
        if monitor is not None:
            monitor.before_rule(node, gradient)
        if attach is None and type(node.inputs) is tuple:
            cotangents = rule(gradient, node, node.out, node.inputs)
        else:
            cotangents = rule(gradient, node, *node.values(attach))
        if custom_cotangents is not None and op.kind == "custom":
            custom_cotangents[node] = cotangents = tuple(cotangents)
        if fp_errors and monitor is None:
            monitor = _Monitor(mask, visited, nan_origins, fp_errors)
        if monitor is not None:
            cotangents = monitor.after_rule(node, gradient, cotangents)

        # Hand the cotangents on to its parents.
        for parent, cotangent in zip(parents, cotangents):
            if cotangent is None or not parent.bits & mask or parent.order < oldest:
                continue
            if needed is not None and parent not in needed:
                continue
            if cotangent.shape != parent.shape or cotangent.dtype is not parent.dtype:
                if type(cotangent) is ScatteredCotangent and (cotangent := cotangent.add_to(pending, parent)) is None:
                    continue
                cotangent = _fit(cotangent, parent, node)
            if following is None and not heap:
                following, gradient = parent, cotangent
            elif following is parent:
                gradient = gradient + cotangent
            else:
                if following is not None:
                    _deposit(pending, heap, following, gradient)
                    following = None
                _deposit(pending, heap, parent, cotangent)
        cotangents = cotangent = None  # the next rule may then have the only reference to its gradient
        if visited is not None:
            visited.append(node)
            if monitor is not None:
                monitor.free(node)
    return found


class _WalkOverride(LocationOverride):
    """What a rule computes has the location of the operation whose rule it is."""

    __slots__ = ()
    code = _walk.__code__
    is_rule = True


class _Monitor:
    """Notes which rules of a walk made NaN, infinity or zeros, and frees saved values early where there are none.

    Where arrays are large, the saved values of a visited node are freed at once (`is_freeing`), as long as all numbers
    are finite: those of operations that explain a NaN, an infinity or zeros are kept.
    """

    __slots__ = (
        "explains_zero",
        "fp_errors",
        "is_freeing",
        "may_free",
        "nan_origin",
        "nan_origins",
        "other_tapes",
        "structural_zeros",
        "visited",
        "was_zero",
    )

    def __init__(
        self, mask: int, visited: list[Node] | None, nan_origins: NanOrigins | None, fp_errors: list[str]
    ) -> None:
        self.visited, self.nan_origins, self.fp_errors = visited, nan_origins, fp_errors
        self.structural_zeros: StructuralZeros | None = None  # from the first operation that chooses elements
        self.nan_origin: Node | None = None  # whose rule made the first NaN
        self.is_freeing = self.was_zero = self.explains_zero = False
        self.may_free = not keep_saved.get()
        self.other_tapes = ~(mask | (FIRST_TAPE - 1)) | (AMBIENT & ~mask)  # tapes that may need saved values later

    def start_freeing(self, gradient: Any, pending: dict[int, list[Any]]) -> None:
        """Free saved values from now on, and those of the visited nodes, unless a number is not finite already.

        Then they are all kept, because visited nodes may explain it.
        """
        nan_origins = self.nan_origins
        if self.is_freeing or not self.may_free:
            return
        self.is_freeing = self.may_free = nan_origins is None or (
            all(map(is_finite, nan_origins.targets))
            and is_finite(gradient)
            and all(is_finite(row[1]) for row in pending.values())
        )
        for node in self.visited or ():
            self.free(node)

    def start_freeing_after_choice(self, choice: Choice, gradient: Any, pending: dict[int, list[Any]]) -> Choice | None:
        """`start_freeing`; zeros by structure are followed from then on, because the walk cannot be made once more."""
        zeros = StructuralZeros(choice.waiting, None)
        for node in (self.visited or ())[choice.start :]:
            if choice.hooked.get(node) is not None:
                zeros.forget(node)
            zeros.before_rule(node, None)
            zeros.note_supports(node)
        self.start_freeing(gradient, pending)
        if not self.is_freeing:
            return choice
        self.structural_zeros = zeros
        return None

    def before_rule(self, node: Node, gradient: Any) -> None:
        """Note whether a gradient is zero before its rule can write over it."""
        self.was_zero = self.is_freeing and is_zero(gradient)
        if self.structural_zeros is not None:
            self.structural_zeros.before_rule(node, gradient)

    def after_rule(self, node: Node, gradient: Any, cotangents: Sequence[Any]) -> Sequence[Any]:
        """The cotangents to hand on; notes whether the rule of `node` made NaN, infinity or zeros of its gradient."""
        nan_origins = self.nan_origins
        if self.structural_zeros is not None:
            cotangents = self.structural_zeros.after_rule(node, cotangents)
        if self.fp_errors or (self.is_freeing and node.op is not None and node.op.is_unflagged):
            is_invalid = self.nan_origin is None and INVALID in self.fp_errors
            if is_invalid and not has_nan(gradient) and any(map(has_nan, cotangents)):
                self.nan_origin = node
            self.fp_errors.clear()
            if self.is_freeing and nan_origins is not None and not all(map(is_finite, cotangents)):
                nan_origins.first_nonfinite = ReverseRuleCall(node, gradient, cotangents)
                self.is_freeing = self.may_free = False
        self.explains_zero = (
            self.is_freeing and nan_origins is not None and not self.was_zero and any(map(is_zero, cotangents))
        )
        if self.explains_zero and nan_origins is not None and len(nan_origins.zeros) < ZEROS_AT_MOST:
            nan_origins.zeros.append(ReverseRuleCall(node, gradient, cotangents))
        return cotangents

    def free(self, node: Node) -> None:
        """Free what a visited node has saved, unless it explains something or has single numbers only."""
        if self.is_freeing and not self.explains_zero and not _is_scalar(node):
            node.free_saved(self.other_tapes)

    def on_arrival(self, gradient: Any) -> None:
        """A gradient has arrived at a source or a leaf: if the NaN is in it, report the operation that made it."""
        if self.nan_origin is None or not has_nan(gradient):
            return
        if self.nan_origins is None:
            messages.warn_of_nan(self.nan_origin)
        else:
            self.nan_origins.append(self.nan_origin)
        self.nan_origin = None


class ScatteredCotangent:
    """The cotangent of a large operand of which some elements were read: zero, but for `values` at `index`.

    A rule for large arrays may return it. Where the walk has a sum of cotangents for the operand already, `values` are
    added to its elements, so that a read costs the elements, not the operand. Its shape is no operand's: that is how
    the walk notices it.
    """

    __slots__ = ("index", "values")
    shape = None

    def __init__(self, values: Any, index: Any) -> None:
        self.values, self.index = values, index

    def add_to(self, pending: dict[int, list[Any]], parent: Node) -> Any:
        """Add it to the cotangents that wait for `parent`, and return None; as an array if there are none yet."""
        slot = pending.get(parent.order)
        if slot is None or type(slot[1]) is not np.ndarray or self.values.dtype != parent.dtype:
            out = np.zeros(parent.shape, self.values.dtype)
            out[self.index] = self.values
            return out
        total = slot[1]
        slot[1] = None
        if not is_spare(sys.getrefcount(total) + 1, total):
            total = np.array(total)
        total[self.index] += self.values
        slot[1] = total
        return None


def _forget(visited: list[Node] | None, fp_errors: list[str], nan_origins: NanOrigins | None) -> None:
    """Forget what a walk has noted that is made once more."""
    fp_errors.clear()
    if visited is not None:
        visited.clear()
    if nan_origins is not None:
        nan_origins.clear()
        nan_origins.zeros.clear()
        nan_origins.first_nonfinite = None


def _deposit(pending: dict[int, list[Any]], heap: list[int], node: Node, cotangent: Any) -> None:
    slot = pending.get(node.order)
    if slot is None:
        pending[node.order] = [node, cotangent]
        heappush(heap, -node.order)
    else:
        total = slot[1]
        slot[1] = None
        is_plain = type(cotangent) is np.ndarray  # not of a batch
        if is_plain and total.nbytes > LARGE and is_spare(sys.getrefcount(total) + 1, total):
            slot[1] = np.add(total, cotangent, total)
        else:
            slot[1] = total + cotangent


def _deposit_part(pending: dict[int, list[Any]], heap: list[int], node: Node, part: int, cotangent: Any) -> None:
    """Hand the cotangent of one of several results to the operation that has computed them all."""
    slot = pending.get(node.order)
    if slot is None:
        assert node.op is not None
        slot = pending[node.order] = [node, [None] * len(node.params[PARTS])]
        heappush(heap, -node.order)
    slot[1][part] = cotangent if slot[1][part] is None else slot[1][part] + cotangent


def _exchange_parts(
    pending: dict[int, list[Any]], heap: list[int], node: Node, gradient: Any
) -> tuple[bool, Any, tuple[Node, ...]]:
    """For an operation of several results, or one that picks one of them: whether it is large, its gradient, parents.

    A pick hands its gradient on here, so that no parent is left; the operation gets zeros where no gradient arrived.
    """
    assert node.op is not None
    if node.op.part is None:
        return False, _fill_missing(node, gradient), node.parents
    _deposit_part(pending, heap, node.parents[0], node.op.part, gradient)
    return gradient.nbytes > LARGE, gradient, ()


def _check_not_freed(node: Node, mask: int, oldest: int) -> None:
    """Refuse to end at a computed node because an earlier backward pass has freed it."""
    if mask & AMBIENT and node.freed is not None and node.order > oldest:
        raise messages.freed_twice(node, node.freed)


def _fill_missing(node: Node, parts: list[Any]) -> list[Any]:
    specs = node.params[PARTS]
    return [np.zeros(*spec) if part is None else part for part, spec in zip(parts, specs, strict=True)]


def _on_arrival(node: Node, gradient: Any, on_leaf: Callable[[Node, Any], None] | None, ambient: int) -> Any:
    """Run the hooks of a node, and keep its gradient if that was asked for; the gradient that replaces it, if any."""
    assert node.extra is not None
    given = gradient
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
    return None if gradient is given else gradient


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


def _is_scalar(node: Node) -> bool:
    """Whether an operation has scalar operands and a scalar result: these take no memory, and may explain a NaN."""
    return not node.shape and not any(parent.shape for parent in node.parents)


def is_spare(references: int, array: Any) -> bool:
    """Whether a cotangent can be written over, because only the walk and the rule have a reference to it.

    `references` is the result of `sys.getrefcount` in the rule.
    """
    return (
        type(array) is np.ndarray and references <= _REFERENCES_IN_RULE and array.base is None and array.flags.writeable
    )


def _count_references_in_rule() -> int:
    """How many references are counted in a rule, where only the walk and the rule hold a cotangent."""

    def rule(g: Any, node: Any) -> int:
        return sys.getrefcount(g)

    gradient = np.empty(1)
    return rule(gradient, None)


_REFERENCES_IN_RULE = (
    _count_references_in_rule() if COUNTS_LOCALS else 0
)  # where they are not counted, nothing is spare


class FreedNode(Location):
    """The line that freed a node, and its former parents: a later walk can tell whether it would lead here."""

    def __init__(self, freed: Location, parents: tuple[Node, ...]) -> None:
        super().__init__(freed.code, freed.offset)
        self.parents = parents


def nodes_leading_to(sources: Iterable[Node], seeds: Iterable[tuple[Node, Any]], mask: int) -> set[Node]:
    """The nodes on the paths from the seeds to `sources`, including those that `release_saved` has freed."""
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
        is_lost = not reached[node] and node.op is not None  # freed with its parents: where it led to is not known
        if is_lost or any(parent in needed for parent in reached[node]):
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
    """Take `nodes` off the tapes in `mask`; those on no other tape drop what they hold. `freed` is the user's line."""
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


def can_walk_again(nodes: Iterable[Node]) -> bool:
    """Whether the nodes of a walk that an error has ended still have what they saved, so that it can be repeated."""
    return all(node.inputs or not node.parents for node in nodes)
