"""Detector: a loss is a sum over examples where a mean was meant: next to a mean, or over batches of different size.

Batches are recognised by the history of their sizes: one size several times, once a smaller one (the last batch of the
epoch), then the first size again. Other histories are no mistake: sentences or series of any length are summed on
purpose, and so is a likelihood that is fitted to a part of the data and does not return to the whole after one step.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gradtape.explain.detectors.broadcast import group_digits
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Record, SourceLocation, operand_values

_TERMS = frozenset({"add", "subtract", "multiply", "divide", "negative", "positive"})
_PLACES_AT_MOST = 256


class _SumHistory(NamedTuple):
    """What one place summed over: the last number of elements, how often in a row, and its constant factor."""

    location: SourceLocation  # held, so that the key of the place stays unique
    size: int
    times: int
    factor: Any
    last: int = 0  # the size of a smaller sum that came once, after that


SumHistories = dict[tuple[Hashable, ...], _SumHistory]
"""What was summed over so far, by the place of the sum."""


def sums_beside_means(targets: Iterable[Record]) -> Iterator[Problem]:
    """Problems for the terms of a target that are sums, where another term is a mean over as many elements."""
    terms = [term for term, _ in _reduction_terms(targets)]
    means = {term.parents[0].shape: term for term in reversed(terms) if term.operation == "mean"}
    for node in terms:
        shape = node.parents[0].shape
        if _is_sum(node) and shape in means:
            words = f"this term is a sum over {group_digits(math.prod(shape))} elements, the other a mean over as many"
            yield _reduction_problem(words, [node, means[shape]])


def sums_over_uneven_batches(targets: Iterable[Record], histories: SumHistories) -> Iterator[Problem]:
    """Problems for sums over the same number of elements each time but once: the last batch of an epoch."""
    sums = [(node, factor) for node, factor in _reduction_terms(targets) if _is_sum(node)]
    places = [node.place_key for node, _ in sums]
    for (node, factor), place in zip(sums, places):
        if places.count(place) > 1 or not node.location.is_known:
            continue  # a loop over parameters
        count = math.prod(node.parents[0].shape)
        before = histories.pop(place, None)
        history = _SumHistory(node.location, count, 1, factor)
        if before is not None and before.factor == factor:
            if count == before.size:
                if before.last:
                    yield _reduction_problem(
                        f"this is a sum over {group_digits(count)} elements; "
                        f"it was one over {group_digits(before.last)} before",
                        [node],
                    )
                history = history._replace(times=before.times + 1)
            elif count < before.size and before.times > 1 and not before.last:
                history = before._replace(last=count)
        histories[place] = history
        while len(histories) > _PLACES_AT_MOST:
            del histories[next(iter(histories))]


def _is_sum(node: Record) -> bool:
    is_written = node.location.is_known and not node.location.in_rule
    return is_written and node.operation == "sum" and math.prod(node.parents[0].shape) > 1


def _reduction_problem(words: str, nodes: list[Record]) -> Problem:
    return problem(
        "GT507",
        words,
        spans=[node.location for node in nodes],
        consequence="its gradient grows with the number of examples, and so does the step that is taken",
        fixes="the mean over the examples, with a learning rate (or a weight) that is right for a mean",
    )


def _reduction_terms(targets: Iterable[Record]) -> Iterator[tuple[Record, Any]]:
    """The sums and means over computed values that targets are put together from, with their constant factors."""
    pending: list[tuple[Record, Any]] = [(node, 1.0) for node in targets]
    seen = {node for node, _ in pending}
    while pending:
        node, factor = pending.pop()
        name = node.operation
        if node.shape:
            continue
        if name in _TERMS:
            terms = node.parents[1:] if name == "divide" else node.parents  # a sum that is divided is a mean
            fresh = [parent for parent in terms if parent.is_tracked and parent not in seen]
            if name == "multiply" and len(fresh) == 1:
                known = [part for part in operand_values(node) if part is not None and np.size(part) == 1]
                factor = factor * float(np.real(np.ravel(known[0])[0])) if len(known) == 1 else math.nan
            seen.update(fresh)
            pending.extend((parent, factor) for parent in fresh)
        elif name in ("mean", "sum") and node.parents[0].operation:
            yield node, factor
