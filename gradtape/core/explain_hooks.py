"""What the kernel notes for explanations.

That is: results to judge when a gradient is taken, observers of the backward pass, and the operations whose rules made
NaN, infinity or zeros. The kernel fills these and the package `explain` reads them. Healthy gradients cost one dot
product each (`any_zero_or_nonfinite`).
"""

from __future__ import annotations

import weakref
from cmath import isfinite
from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.graph import Node, concrete_value, sample_of

# What explanations want to look at when a gradient is taken: departures, and results that only then can be judged.
suspects: deque[Any] = deque(maxlen=256)

# How often results of a place, with that shape, were judged and no problem was found.
times_cleared: dict[tuple[Any, ...], int] = {}
LOOKS_AT_MOST = 32


def suspect(node: Node, entry: Any = None) -> None:
    """Let `node` be judged when a gradient is taken, unless that was done often enough; `entry` tells more about it."""
    if times_cleared.get((id(node.code), node.offset, node.shape), 0) < LOOKS_AT_MOST:
        suspects.append(weakref.ref(node) if entry is None else entry)


ZEROS_AT_MOST = 8


class ReverseRuleCall(NamedTuple):
    """A call of a gradient rule: the node, the gradient that arrived there, and the cotangents that the rule returned.

    A rule for large arrays may have written over the gradient: then it is the same array as a cotangent.
    """

    node: Node
    gradient: Any
    cotangents: Sequence[Any]


class NanOrigins(list[Node]):
    """The operations whose rules produced a NaN that reached a source, as noticed by a walk.

    `targets` are the values that are differentiated. `first_nonfinite` is the first call that produced NaN or infinity
    after the walk had begun to free saved values: its node and all older ones have kept theirs. `zeros` are calls that
    produced zeros meanwhile, whose nodes have kept theirs too.
    """

    def __init__(self, targets: Sequence[Any] = ()) -> None:
        super().__init__()
        self.targets = targets
        self.first_nonfinite: ReverseRuleCall | None = None
        self.zeros: list[ReverseRuleCall] = []


Cotangents = dict[Node, tuple[Any, ...]]
Finish = Callable[[Cotangents, Exception | None], Any]
Observer = Callable[[Iterable[tuple[Node, Any]], int, Iterable[Node] | None, Container[Node]], Finish | None]

# Called before every backward pass, while the whole graph is there; the collector of a report is one. An observer
# changes nothing. A custom rule is called once, by the walk itself: an observer that needs the cotangents of custom
# rules returns a function that is called after the walk with them, or with the error that ended the walk.
observers: list[Observer] = []
is_observing: ContextVar[bool] = ContextVar("gradtape observing", default=False)


class FinishedWalk(NamedTuple):
    """A backward pass that has ended: its seeds and tapes, the values that were differentiated, and all gradients."""

    seeds: Sequence[tuple[Node, Any]]
    mask: int
    sources: Iterable[Node] | None
    targets: Sequence[Any]
    gradients: dict[Node, Any]


# Called after every backward pass that did not fail. The gradients are the program's own: they are only looked at.
walk_observers: list[Callable[[FinishedWalk], None]] = []


def keep_leaf_gradients(
    on_leaf: Callable[[Node, Any], None], gradients: dict[Node, Any]
) -> Callable[[Node, Any], None]:
    """`on_leaf`, which also keeps each leaf and its gradient in `gradients`, for the observers of the finished walk."""

    def call_and_keep(node: Node, value: Any) -> None:
        gradients[node] = value
        on_leaf(node, value)

    return call_and_keep


# Called by training loops after each step, with the place of the call, the loss, the names of the parameters, and the
# parameters before and after the step.
step_observers: list[Callable[[Any, float, Sequence[str], Sequence[Any], Sequence[Any]], None]] = []


# Functions that time what was compiled, for reports. They are called when a report begins to collect, and what they
# return is called when it ends: it gives the timelines of functions that have run meanwhile. One that is called at the
# end only, because it was registered meanwhile, is given True: all runs count.
timers: list[Callable[[bool], Callable[[], list[Any]]]] = []


def call_observers(functions: Iterable[Callable[..., Any]], *given: Any) -> list[Finish]:
    """Call observers, or the functions that they returned; walks that they make themselves are not observed."""
    token = is_observing.set(True)
    try:
        found = [function(*given) for function in functions]
    finally:
        is_observing.reset(token)
    return [finish for finish in found if finish is not None]


# Classes whose instances hold parameters under names, such as modules, each with a function that lists the names and
# values of an instance. Reports name parameters by their paths within such containers.
parameter_containers: dict[type, Callable[[Any], Iterable[tuple[str, Any]]]] = {}


def register_parameter_container(kind: type, parts: Callable[[Any], Iterable[tuple[str, Any]]]) -> None:
    """Name parameters in reports by their paths in instances of `kind`, whose named parts `parts(instance)` lists."""
    parameter_containers[kind] = parts


_INFINITY = float("inf")


def any_zero_or_nonfinite(gradients: Iterable[Any]) -> bool:
    """Whether one of the gradients is zero everywhere, or NaN or infinite somewhere: worth a closer look.

    One dot product each: a sum of squares is 0 or not finite then, and only then or nearly so.
    """
    for gradient in gradients:
        product: Callable[[Any, Any], Any] = np.vdot
        if not isinstance(gradient, (np.ndarray, np.generic)):
            if _is_checked_later(sample_of(gradient), "gradient"):
                continue
            gradient, product = concrete_value(gradient), _dot_without_blas
        if isinstance(gradient, (np.ndarray, np.generic)) and gradient.size:
            flat: Any = gradient.ravel("K")  # in the order of its memory, so that nothing is copied
            if not 0.0 < product(flat, flat).real < _INFINITY:
                return True
    return False


def _is_checked_later(sample: Any, check: str) -> bool:
    """Whether `jit` has not computed a value: it makes the check "gradient" or "target" when it has."""
    return hasattr(sample, "check_later") and sample.check_later(check)


def _dot_without_blas(left: Any, right: Any) -> Any:
    """The dot product, without BLAS: its threads would stay awake for a while, and take cores from the compiler."""
    return np.einsum("i,i", left.conj(), right)


def is_nan(targets: Iterable[Any]) -> bool:
    """Whether a target that is one number is NaN, which no gradient needs to show."""
    return any(value.size == 1 and value != value for value in map(_number_to_check, targets) if value is not None)


def _number_to_check(target: Any) -> Any:
    """The array or number of a target; None if there is none, or `jit` looks at it later."""
    if isinstance(target, (np.ndarray, np.generic)):
        return target
    if not hasattr(target, "check_later") or target.size != 1 or target.check_later("target"):
        return None
    return target.evaluate()


def has_nan(value: Any) -> bool:
    """Whether an array of floating point numbers has a NaN; False for any other value."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc" and bool(np.isnan(value).any())


def is_finite(value: Any) -> bool:
    """Whether there is no NaN and no infinity in a value; what is no array of numbers counts as finite.

    A large array is first multiplied with itself, which makes no temporary array: a finite product says that all
    elements are finite.
    """
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fc":
        return True
    if value.size > SAMPLES and value.dtype.char in "fdFD" and value.flags.forc:
        flat: Any = value.ravel(order="K")
        if isfinite(np.vdot(flat, flat)):
            return True
    return bool(np.isfinite(value).all())


SAMPLES = 16


def is_zero(value: Any) -> bool:
    """Whether an array is zero everywhere; some elements are looked at first, which mostly tells that it is not.

    An odd step between them leads to elements inside of an array whose border is zero.
    """
    if not isinstance(value, np.ndarray) or not value.size or value.item(0) or value.item(value.size >> 1):
        return False
    return not any(map(value.item, range(0, value.size, value.size // SAMPLES | 1))) and not value.any()
