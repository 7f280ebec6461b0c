"""Sums that are weighted by a softmax: along which axis they run, and along which the weights sum to 1."""

from __future__ import annotations

import numpy as np

from gradtape.explain.model.record import Computation, Record

_PRODUCTS = frozenset({"matmul", "dot", "einsum", "tensordot", "inner"})


def mixed_axis(softmax: Record, axis: int, replay: Computation) -> tuple[int, str, Record] | None:
    """A mixture: the outputs of a layer, normalised over the examples, weigh vectors that are summed over the outputs.

    `softmax(router(x), axis=0)[..., None] * outputs` is summed over axis 1. Weights that are normalised over the last
    axis and summed over another one are those of a pooling, and meant.
    """
    is_column = len(softmax.shape) > 2 and softmax.shape[-1] == 1
    last = len(softmax.shape) - (2 if is_column else 1)
    is_layer = behind_shifts(softmax.parents[0]).operation in (*_PRODUCTS, "linear")
    if axis == last or not is_layer or 1 in softmax.shape[: last + 1]:
        return None
    if any(c.operation in ("sum", "mean") for c in replay.consumers.get(softmax, ())):
        return None  # normalised along the other axis afterwards
    direct = None if is_column else _direct_mixture(softmax, last, replay)
    if direct is not None:
        return last, f"it weighs a sum over axis {last}", direct
    for wide in [softmax] if is_column else replay.consumers.get(softmax, ()):
        kept = [place for place, length in enumerate(wide.shape) if length != 1]
        is_widened = wide is softmax or wide.operation in ("expand_dims", "reshape", "getitem")
        if not is_widened or len(kept) == len(wide.shape):
            continue
        if tuple(wide.shape[place] for place in kept) != softmax.shape[: last + 1]:
            continue
        for product in replay.consumers.get(wide, ()):
            if product.operation != "multiply" or len(product.shape) != len(wide.shape):
                continue
            for total in replay.consumers.get(product, ()):
                if total.operation == "sum" and total.params.get("axis") == (kept[last],):
                    return last, f"it weighs a sum over axis {last}", total
    return None


def _direct_mixture(softmax: Record, last: int, replay: Computation) -> Record | None:
    """The sum over the last axis of `softmax(scores, axis=0) * outputs`, one number of each example and expert.

    What is only summed up again afterwards is a total over all axes.
    """
    for product in replay.consumers.get(softmax, ()):
        if product.operation != "multiply" or product.shape != softmax.shape or len(product.parents) != 2:
            continue
        other = next((parent for parent in product.parents if parent is not softmax), softmax)
        if other.operation not in (*_PRODUCTS, "linear") or other.shape != softmax.shape:
            continue
        for total in replay.consumers.get(product, ()):
            users = [user for user in replay.consumers.get(total, ()) if user.operation]
            is_mixture = total.operation == "sum" and total.params.get("axis") == (last,)
            if is_mixture and users and not any(user.operation in ("sum", "mean") for user in users):
                return total
    return None


def behind_shifts(scores: Record) -> Record:
    """What made the scores, before they were scaled, shifted or masked, or lost an axis of length 1."""
    for _ in range(6):
        if scores.operation in ("reshape", "getitem") and scores.parents:
            before = scores.parents[0]
            if before.shape != (*scores.shape, 1):
                break
            scores = before
            continue
        if not scores.operation or scores.kind != "elementwise" or scores.operation == "linear":
            break
        scores = next((parent for parent in scores.parents if parent.shape == scores.shape), scores)
    return scores


def einsum_axis(node: Record, axis: int, softmax: Record) -> tuple[int, str] | None:
    """Attention by einsum: the weights, made of scores of pairs, are summed over another axis than they sum to 1."""
    terms, _, result = node.params.get("subscripts", "").partition("->")
    letters = terms.split(",")
    if len(letters) != 2 or len(node.parents) != 2 or node.parents.count(softmax) != 1:
        return None
    own, values = letters if node.parents[0] is softmax else letters[::-1]
    summed = [place for place, letter in enumerate(own) if letter in values and letter not in result]
    if len(own) != len(softmax.shape) or own[axis] not in result or len(summed) != 1:
        return None
    weights = node.operand_value(1 - node.parents.index(softmax))
    if weights is not None and np.allclose(np.sum(weights, axis=values.index(own[summed[0]])), 1.0):
        return None  # a mixture: it is the other operand that weighs
    scores = softmax.parents[0]
    for _ in range(6):  # scaled, masked, shifted
        if not scores.operation or scores.operation in ("matmul", "einsum", "linear"):
            break
        scores = next((parent for parent in scores.parents if parent.shape == scores.shape), scores)
    of_examples = own[axis] in values and scores.operation == "linear"  # along it both operands are matched
    if not (scores.operation in ("matmul", "einsum") or of_examples) or softmax.shape[axis] == 1:
        return None
    return summed[0], f"the values are summed over axis {summed[0]}"


__all__ = ["behind_shifts", "einsum_axis", "mixed_axis"]
