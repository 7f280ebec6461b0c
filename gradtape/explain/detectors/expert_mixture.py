"""Weights of a mixture of experts that are normalised over the examples, and weigh the experts."""

from __future__ import annotations

from gradtape.explain.model.record import Computation, Record

_PRODUCTS = frozenset({"matmul", "dot", "einsum", "tensordot", "inner"})


def mixed_axis(softmax: Record, axis: int, replay: Computation) -> tuple[int, str, Record] | None:
    """A mixture: the outputs of a layer, normalised over the examples, weigh vectors that are summed over the outputs.

    `softmax(router(x), axis=0)[..., None] * outputs` is summed over axis 1. Weights that are normalised over the last
    axis and summed over another one are those of a pooling, and meant.
    """
    last = len(softmax.shape) - 1
    is_layer = _behind_shifts(softmax.parents[0]).operation in (*_PRODUCTS, "linear")
    if axis == last or not is_layer or 1 in softmax.shape:
        return None
    if any(c.operation in ("sum", "mean") for c in replay.consumers.get(softmax, ())):
        return None  # normalised along the other axis afterwards
    direct = _direct_mixture(softmax, last, replay)
    if direct is not None:
        return last, f"it weighs a sum over axis {last}", direct
    for wide in replay.consumers.get(softmax, ()):
        kept = [place for place, length in enumerate(wide.shape) if length != 1]
        if wide.operation not in ("expand_dims", "reshape", "getitem") or len(kept) == len(wide.shape):
            continue
        if tuple(wide.shape[place] for place in kept) != softmax.shape:
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


def _behind_shifts(scores: Record) -> Record:
    """What made the scores, before they were scaled, shifted or masked."""
    for _ in range(6):
        if not scores.operation or scores.kind != "elementwise" or scores.operation == "linear":
            break
        scores = next((parent for parent in scores.parents if parent.shape == scores.shape), scores)
    return scores


__all__ = ["mixed_axis"]
