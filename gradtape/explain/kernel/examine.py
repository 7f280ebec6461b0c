"""`examine`, the dispatcher: runs the detectors that apply to a gradient that the kernel has taken.

It runs before the graph is freed, and only when there is a reason: a gradient is zero everywhere or not finite
(`any_zero_or_nonfinite` in `gradtape.core.explain_hooks`, one dot product for each gradient), or an operation on the
way asked to be judged (`suspects` there). Detectors are imported when they are needed, so that the kernel does not
import them all.
"""

from __future__ import annotations

import weakref
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.explain_hooks import NanOrigins, is_nan, suspects, times_cleared
from gradtape.core.graph import Cut, Node, concrete_value, departures
from gradtape.errors import GradTapeError
from gradtape.explain.detectors.negative_cache import is_cleared, record_negative
from gradtape.explain.emit.policy import report
from gradtape.explain.emit.withhold import defer, is_provisional

if TYPE_CHECKING:
    from gradtape.explain.graph.replay import Replay

NO_ORIGINS = NanOrigins()


def examine(
    seeds: Sequence[tuple[Node, Any]],
    mask: int,
    arrivals: Sequence[tuple[Node, Any]],
    targets: Sequence[Any],
    nan_origins: NanOrigins = NO_ORIGINS,
    boundary: Container[Node] = (),
    sources: Mapping[Node, Any] | None = None,
    judges_zeros: bool = True,
) -> None:
    """Run the detectors that apply to the gradients that were taken; they report what they find.

    `arrivals` are the sources with their gradients, `targets` the values that were differentiated, `nan_origins` the
    operations in whose rules the backward pass met a NaN, and `sources` the values of the sources, if they are known.
    With a seed that the caller chose, zeros mean nothing: then `judges_zeros` is false.
    """
    from gradtape.explain.graph.replay import Replay

    target = tuple((id(node.code), node.offset) for node, _ in seeds[:4])
    waiting = _take_suspects(mask, target) if suspects else []
    seeds = [(node, concrete_value(seed)) for node, seed in seeds]
    if not all(isinstance(seed, (np.ndarray, np.generic)) for _, seed in seeds):
        return  # a backward pass that is itself recorded or batched
    met = [(node, concrete_value(g)) for node, g in arrivals]
    numbers = [(node, g) for node, g in met if isinstance(g, (np.ndarray, np.generic)) and g.size]
    broken = bool(nan_origins) or is_nan(targets) or not all(np.isfinite(g).all() for _, g in numbers)
    zeros = [] if broken or not judges_zeros else [node for node, g in numbers if not np.any(g)]
    if (broken or zeros) and defer("not finite" if broken else "zero"):
        broken, zeros = False, []
    if not (broken or zeros or waiting):
        return
    replay = Replay(seeds, mask, boundary, sources, nan_origins)
    try:
        if broken:
            from gradtape.explain.detectors.nonfinite import check

            check.explain_nonfinite(replay, nan_origins, targets)
        elif zeros:
            from gradtape.explain.detectors import zero_gradient

            zero_gradient.explain_zeros(replay, zeros, len(zeros) == len(numbers), targets)
        if waiting:
            _judge_suspects(waiting, replay, target)
    except (GradTapeError, Warning):
        raise
    except Exception as error:  # the gradient is right or wrong without its explanation: return it
        _report_failed_search(error, broken)


def _report_failed_search(error: Exception, broken: bool) -> None:
    """Report what is certain where the search for the cause raised `error`: that the gradient is not finite."""
    if broken:
        from gradtape.explain.messages import problem

        title = "the gradient is not finite"
        report(problem("GT402", title, notes=[f"the search for the cause stopped: {type(error).__name__}"]))


def _take_suspects(mask: int, target: tuple[Any, ...]) -> list[Any]:
    """Take the suspects of the tapes in `mask` out of the queue; those of other tapes stay in it.

    Suspects that were judged here several times without a result are dropped.
    """
    mine, others = [], []
    for suspect in list(suspects):  # a copy, as other threads may append
        node = _suspect_node(suspect)
        bits = None if node is None else node.params["bits"] if isinstance(node, Cut) else node.bits
        if bits is None:
            continue
        if not bits & mask:
            others.append(suspect)
        elif is_provisional() or not is_cleared((*_suspect_key(suspect), *target)):
            mine.append(suspect)
    suspects.clear()
    suspects.extend(others)
    return mine


def _suspect_node(suspect: Any) -> Node | None:
    """The node of a suspect: a departure itself, or the operation that it refers to weakly; None if that is gone."""
    if isinstance(suspect, Cut):
        return suspect
    found: Node | None = suspect() if isinstance(suspect, weakref.ref) else suspect.node()
    return found


def _suspect_key(suspect: Any) -> tuple[Any, ...]:
    node = _suspect_node(suspect)
    return () if node is None else (id(node.code), node.offset, node.shape)


def _judge_suspects(waiting: Sequence[Any], replay: Replay, target: tuple[Any, ...]) -> None:
    from gradtape.explain.detectors import axis_alignment
    from gradtape.explain.detectors.broadcast import Residual, judge_residual
    from gradtape.explain.detectors.detached_value import judge_departures
    from gradtape.explain.detectors.training_dynamics import is_suspicious_pick, judge_label_pick, judge_softmax

    departed = [suspect for suspect in waiting if isinstance(suspect, Cut)]
    _note_other_ways(departed)
    is_lost_value = judge_departures(departed, replay)
    for suspect in waiting:
        node = _suspect_node(suspect)
        if isinstance(suspect, Residual):
            is_mistake = judge_residual(suspect, replay)
        elif isinstance(suspect, Cut):
            is_mistake = is_lost_value
        elif node is not None and node.op is not None and node.op.name == "take at positions":
            is_mistake = is_suspicious_pick(node) and defer("picked")
        elif node is not None and node.op is not None and node.op.name == "getitem":
            is_mistake = judge_label_pick(node, replay) or axis_alignment.judge_label_index(node, replay)
        elif node is not None and node.op is not None and node.op.name in axis_alignment.REDUCTIONS:
            is_mistake = axis_alignment.judge_reduction(node, replay)
        else:
            is_mistake = node is not None and judge_softmax(node, replay)
        if not is_mistake and not is_provisional():
            _record_innocent((*_suspect_key(suspect), *target), node, replay)


def _note_other_ways(departed: Sequence[Cut]) -> None:
    """Note which values were shown or stored, and left the tape in another way too: by `.item()`, or by `float()`."""
    shown = [cut for cut in departed if "text" in cut.params or "numbers" in cut.params]
    if shown:
        # all references to a node are one object, which tells nodes apart when they are gone
        plainly = {id(source) for cut in list(departures) if "numbers" not in cut.params for source in cut.sources}
        for cut in shown:
            cut.params["left_elsewhere"] = any(id(source) in plainly for source in cut.sources)


def _record_innocent(key: tuple[Any, ...], node: Node | None, replay: Replay) -> None:
    """Count that a suspect was judged without a result, so that the kernel stops to queue it after a while."""
    if record_negative(key, [*replay.targets, *([] if node is None else [node])]):
        times_cleared.clear()
    if node is not None:
        times_cleared[key[:3]] = times_cleared.get(key[:3], 0) + 1
