"""Cotangents that are zero by structure: those of elements that an operation such as `where` did not choose.

Zero times an infinite slope is NaN, but a number that was not chosen has no influence, so that its gradient is zero
whatever the slopes behind it are. A zero that merely comes out of a computation is another matter: `sqrt(x) ** 2` at 0
has the slope 0 times infinity, and zero would be wrong. So a walk that has met an operation that chooses (`Op.chosen`)
follows where the cotangents behind it can be other than zero, their support, through elementwise operations and those
that move elements (`Op.moves_elements`). Behind others nothing is known.

A walk over plain arrays does so only if a gradient comes out that is not finite: it is made once more. Where values
are freed on the way, cotangents are looked at one by one. Where the walk is recorded, traced or mapped over, the values
may be others later, so that each elementwise rule with a slope that varies is restricted to the support.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import numpy as np

from gradtape.core.graph import FLAGS, Node
from gradtape.core.shapes import Shape, unbroadcast

Attach = Callable[[Any, Node], Any] | None


class Support:
    """The places of an array where a cotangent can be other than zero: booleans, computed when they are needed.

    `compute` gives them, of the places of other supports. `part_of` is the support of which this one is a part, and
    the index of the part; `spread_of` is the part that this one has, with nothing around it, and where.
    """

    __slots__ = ("_compute", "_of", "_places", "part_of", "spread_of")

    def __init__(self, compute: Callable[..., Any], *of: Support) -> None:
        self._compute: Callable[..., Any] | None = compute
        self._of = of
        self._places: Any = None
        self.part_of: tuple[Support, Any] | None = None
        self.spread_of: tuple[Support, Any] | None = None

    @property
    def places(self) -> Any:
        """An array or a tensor of booleans. What it is computed of is computed in a loop: there may be thousands."""
        waiting = [self]
        while waiting:
            support = waiting[-1]
            missing = [source for source in support._of if source._compute is not None]
            if support._compute is None or not missing:
                waiting.pop()
            if support._compute is None:
                continue
            if missing:
                waiting += missing
                continue
            support._places = support._compute(*[source._places for source in support._of])
            support._compute, support._of = None, ()
        return self._places


def chosen_by_slope(node: Node, out: Any, inputs: tuple[Any, ...]) -> list[Support | None]:
    """Of an elementwise operation that chooses (`maximum`, `clip`): each input where its slope is not zero.

    A result that is NaN was computed from all of them.
    """
    return [
        Support(lambda i=i: _has_influence(node, out, inputs, i)) if parent.bits > FLAGS else None
        for i, parent in enumerate(node.parents)
    ]


def _has_influence(node: Node, out: Any, inputs: tuple[Any, ...], index: int) -> Any:
    moves = slope_of(node, out, inputs, index) != 0
    return moves if out is None else moves | np.isnan(out)


def slope_of(node: Node, out: Any, inputs: tuple[Any, ...], index: int) -> Any:
    """The partial derivative of an elementwise operation by one input, in the shape of the result."""
    assert node.op is not None
    assert node.op.forward is not None
    parent = node.parents[index]
    tangents = [np.ones(parent.shape, parent.dtype) if i == index else None for i in range(len(node.parents))]
    return node.op.forward(node, out, inputs, tangents)


class NonfiniteAfterChoice(Exception):
    """Ends a walk over plain arrays: a gradient is not finite, and zeros by structure were not followed.

    `hooked` has the nodes whose hooks were called, with what these returned, `delivered` the leaves that have their
    gradients: all that arrived there was finite, and so is the same when zeros by structure are followed.
    """

    def __init__(self, hooked: dict[Node, Any], delivered: Container[Node]) -> None:
        super().__init__()
        self.hooked, self.delivered = hooked, delivered


class Choice:
    """The first operation that chooses, met by a walk over plain arrays, which need not follow zeros while all is well.

    `waiting` are the orders of the nodes that waited then, `start` is how many had been visited.
    """

    __slots__ = ("_delivered", "hooked", "start", "waiting")

    def __init__(self, waiting: Iterable[int], start: int, hooked: dict[Node, Any], delivered: list[Node]) -> None:
        self.waiting, self.start = list(waiting), start
        self.hooked, self._delivered = hooked, delivered

    def check(self, gradient: Any) -> None:
        """End the walk if a gradient is not finite."""
        if isinstance(gradient, (np.ndarray, np.generic)) and not _is_finite(gradient):
            raise NonfiniteAfterChoice(self.hooked, set(self._delivered))


def chooses(node: Node) -> bool:
    """Whether an operation may not choose some elements of its operands, as it was called."""
    op = node.op
    assert op is not None
    return op.chosen is not None and any(op.chosen(node, *node.values(None)))


class StructuralZeros:
    """Follows the supports of the cotangents of one walk, from the first operation that chooses."""

    __slots__ = ("_arrived", "_attach", "_gradient", "_own", "_values")

    def __init__(self, waiting: Iterable[int], attach: Attach) -> None:
        self._arrived: dict[int, Support | None] = dict.fromkeys(waiting)  # by order; None: not restricted
        self._attach = attach
        self._own: Support | None = None
        self._gradient: Any = None
        self._values: tuple[Any, tuple[Any, ...]] = None, ()

    def forget(self, node: Node) -> None:
        """A hook has replaced the gradient of a node: nothing is known of its zeros."""
        self._arrived.pop(node.order, None)

    def before_rule(self, node: Node, gradient: Any) -> None:
        """Hold what `after_rule` needs of a node; with this reference the gradient is not written over."""
        op = node.op
        own = self._arrived.pop(node.order, None)
        assert op is not None
        if own is not None and not (op.kind == "elementwise" or op.moves_elements or op.chosen is not None):
            own = None
        self._own = own
        if own is not None or op.chosen is not None:
            self._values, self._gradient = node.values(self._attach), gradient

    def after_rule(self, node: Node, cotangents: Sequence[Any]) -> Sequence[Any]:
        """The cotangents of a rule, restricted to where they can be other than zero."""
        op, own = node.op, self._own
        assert op is not None
        if own is not None and op.kind == "elementwise" and op.chosen is None:
            cotangents = [
                cotangent if cotangent is None or i not in op.varying else self._restrict(node, i, cotangent, own)
                for i, cotangent in enumerate(cotangents)
            ]
        self.note_supports(node)
        return cotangents

    def note_supports(self, node: Node) -> None:
        """Note where the cotangents that a node hands on can be other than zero."""
        op, own = node.op, self._own
        assert op is not None
        passed: Sequence[Support | None] = (None,) * len(node.parents)
        if own is not None:
            passed = move_support(node, own, self._values) if op.moves_elements else [own] * len(node.parents)
        if op.chosen is not None:
            passed = [_both(*pair) for pair in zip(passed, op.chosen(node, *self._values), strict=True)]
        if not op.moves_elements:
            passed = [
                _reduced(support, node.shape, parent) for support, parent in zip(passed, node.parents, strict=True)
            ]
        for parent, support in zip(node.parents, passed, strict=True):
            if parent.bits > FLAGS:
                order = parent.order
                self._arrived[order] = _either(self._arrived[order], support) if order in self._arrived else support
        self._own = self._gradient = None
        self._values = None, ()

    def _restrict(self, node: Node, index: int, cotangent: Any, own: Support) -> Any:
        """A cotangent with zeros where it is zero by structure, before it is summed over the axes of a broadcast."""
        is_plain = isinstance(cotangent, (np.ndarray, np.generic)) and self._attach is None
        if is_plain and _is_finite(cotangent):
            return cotangent
        out, inputs = self._values
        if not is_plain and _has_constant_slope(node, index, inputs):
            return cotangent
        parent = node.parents[index]
        if parent.shape == node.shape:
            return np.where(own.places, cotangent, np.zeros((), cotangent.dtype))
        slope = slope_of(node, out, inputs, index)
        if node.dtype.kind == "c":
            slope = np.conj(slope)
        product = self._gradient * slope
        return unbroadcast(np.where(own.places, product, np.zeros((), product.dtype)), parent.shape)


def _is_finite(cotangent: Any) -> bool:
    """Whether no number is NaN or infinite: mostly one dot product."""
    return bool(np.vdot(cotangent, cotangent).real < np.inf) or bool(np.isfinite(cotangent).all())


def _has_constant_slope(node: Node, index: int, inputs: tuple[Any, ...]) -> bool:
    """Whether a slope is made of single numbers that are constants, as that of `2.0 * x`, and is finite."""
    op = node.op
    assert op is not None
    if not op.needs or index in op.needs_out:
        return False
    used = [inputs[i] for i in op.needs[index]]
    if any(
        not isinstance(value, (int, float, complex, np.ndarray, np.generic)) or np.size(value) != 1 for value in used
    ):
        return False
    with np.errstate(all="ignore"):
        return bool(np.isfinite(slope_of(node, None, inputs, index)).all())


def move_support(node: Node, own: Support, values: tuple[Any, tuple[Any, ...]]) -> list[Support | None]:
    """The supports behind an operation that moves, copies or adds elements: where its rule takes ones.

    Writes and reads of parts give them without their rules (`Op.supports`), so that a loop that writes rows costs the
    row and not the array.
    """
    op = node.op
    assert op is not None
    if op.supports is not None:
        given: list[Support | None] | None = op.supports(node, own)
        if given is not None:
            return given

    def compute(places: Any, index: int) -> Any:
        ones = np.where(places, np.ones((), node.dtype), np.zeros((), node.dtype))
        return list(op.reverse(ones, node, *values))[index] != 0

    return [
        Support(lambda places, i=i: compute(places, i), own) if parent.bits > FLAGS else None
        for i, parent in enumerate(node.parents)
    ]


def _both(first: Support | None, second: Support | None) -> Support | None:
    if first is None or second is None:
        return second if first is None else first
    return Support(np.logical_and, first, second)


def _either(first: Support | None, second: Support | None) -> Support | None:
    if first is None or second is None:
        return None
    if first is second or _is_within(second, first):
        return first
    return second if _is_within(first, second) else Support(np.logical_or, first, second)


def _is_within(inner: Support, outer: Support) -> bool:
    """Whether a support is known to be a part of another one, at the place where it was taken from: `x[i] += y`."""
    if inner.spread_of is None:
        return False
    part, place = inner.spread_of
    return part.part_of is not None and part.part_of[0] is outer and part.part_of[1] == place


def _reduced(support: Support | None, shape: Shape, parent: Node) -> Support | None:
    """The support of an operand that was broadcast to `shape`: where any of its copies has one."""
    if support is None or parent.shape == shape:
        return support
    return Support(lambda places: unbroadcast(np.broadcast_to(places, shape).astype(float), parent.shape) != 0, support)
