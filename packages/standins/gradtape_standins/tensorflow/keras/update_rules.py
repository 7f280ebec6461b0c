"""The steps of Keras' optimisers where they are not those of `gt.optim`: where epsilon stands, and what momentum holds.

Weight decay is apart from the gradient in all of them: see `with_decay`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradtape.optim import adaptive, gradient_descent
from gradtape.optim.leaf import Leaf, Options, Slots, averaged
from gradtape.optim.optimiser import Optimiser


class SGD(gradient_descent.SGD):
    """SGD; what momentum keeps is steps, each with the learning rate of its time."""

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        step, momentum = leaf.like(leaf.rate) * leaf.gradient, leaf.options["momentum"]
        if not momentum:
            return leaf.value - step, leaf.slots
        kept = momentum * leaf.slots["momentum"] - step
        return leaf.value + (momentum * kept - step if leaf.options["nesterov"] else kept), {"momentum": kept}


class RMSprop(adaptive.RMSprop):
    """RMSprop with epsilon below the root; what momentum keeps is steps."""

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        slots, gradient = leaf.slots, leaf.gradient
        alpha, momentum = leaf.options["alpha"], leaf.options["momentum"]
        new = {**slots, "second": alpha * slots["second"] + (1 - alpha) * gradient**2}
        spread = new["second"]
        if leaf.options["centered"]:
            new["first"] = alpha * slots["first"] + (1 - alpha) * gradient
            spread = spread - new["first"] ** 2
        step = leaf.like(leaf.rate) * gradient / np.sqrt(spread + leaf.options["eps"])
        if momentum:
            step = new["momentum"] = momentum * slots["momentum"] + step
        return leaf.value - step, new


class Adagrad(adaptive.Adagrad):
    """Adagrad with epsilon below the root."""

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        total = leaf.slots["total"] + leaf.gradient**2
        return leaf.along(leaf.gradient / np.sqrt(total + leaf.options["eps"])), {"total": total}


class Adamax(adaptive.Adamax):
    """Adamax with epsilon beside the norm, and not in it."""

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        beta1, beta2 = leaf.options["betas"]
        first = averaged(leaf.slots["first"], leaf.gradient, beta1)
        largest = np.maximum(beta2 * leaf.slots["largest"], np.abs(leaf.gradient))
        scale = leaf.like(leaf.rate / (1 - beta1**leaf.steps))
        return leaf.value - scale * first / (largest + leaf.options["eps"]), {"first": first, "largest": largest}


class _Own(Optimiser):
    """An optimiser whose options are all given by name."""

    def __init__(self, learning_rate: float, *, allow_none: bool, check_finite: bool, **options: Any) -> None:
        super().__init__(learning_rate, options, allow_none=allow_none, check_finite=check_finite)


class Ftrl(_Own):
    """The minimum of all linear terms so far and of a bowl that grows with them; `l1` sets numbers to zero."""

    _slots = ("total", "linear")

    def _fresh(self, name: str, value: Any, options: Options) -> Any:
        first = options["initial_accumulator_value"] if name == "total" else 0.0
        return np.full(value.shape, first, value.dtype)

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        options, value, gradient = leaf.options, leaf.value, leaf.gradient
        rate, power = leaf.like(leaf.rate), options["power"]
        total = leaf.slots["total"] + gradient**2
        before, after = leaf.slots["total"] ** power, total**power
        linear = leaf.slots["linear"] + gradient + 2 * options["l2_shrinkage"] * value - (after - before) / rate * value
        bowl = after / rate + 2 * (options["l2"] + options["beta"] / (2 * rate))
        clipped = np.clip(linear, -options["l1"], options["l1"])
        return (clipped - linear) / bowl, {"total": total, "linear": linear}


class Lamb(_Own):
    """Adam's step, as long as the parameter itself is, times the learning rate."""

    _slots = ("first", "second")

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        beta1, beta2 = leaf.options["betas"]
        first, second = leaf.moments()
        root = np.sqrt(second / leaf.like(1 - beta2**leaf.steps)) + leaf.options["eps"]
        step = first / leaf.like(1 - beta1**leaf.steps) / root
        length, size = np.sqrt(np.sum(leaf.value**2)), np.sqrt(np.sum(step**2))
        known = (length > 0) & (size > 0)
        ratio = np.where(known, length / np.where(known, size, 1.0), 1.0)
        return leaf.value - leaf.like(leaf.rate * ratio) * step, {"first": first, "second": second}


class Adafactor(_Own):
    """The mean squares of gradients are kept for rows and columns of matrices instead of for each number."""

    _slots = ("rows", "columns", "second")

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        options, value, slots = leaf.options, leaf.value, leaf.slots
        squares = leaf.gradient**2 + options["eps1"]
        share = leaf.like(leaf.steps ** -options["decay"])
        new = dict(slots)
        if len(value.shape) < 2:
            new["second"] = averaged(slots["second"], squares, 1 - share)
        else:
            for slot, axis in (("rows", -1), ("columns", -2)):
                mean = np.mean(squares, axis=axis, keepdims=True)
                new[slot] = averaged(slots[slot], mean + np.zeros(value.shape, value.dtype), 1 - share)
            rows = new["rows"] / np.mean(new["rows"], axis=-2, keepdims=True)
            new["second"] = rows * new["columns"]
        step = leaf.gradient / np.sqrt(new["second"])
        step = step / np.maximum(1.0, _root_mean_square(step) / options["clip_threshold"])
        scale = np.maximum(options["eps2"], _root_mean_square(value))
        return value - leaf.like(scale * np.minimum(leaf.rate, 1 / np.sqrt(leaf.steps))) * step, new


def _root_mean_square(x: Any) -> Any:
    return np.sqrt(np.mean(x**2))


class Apart:
    """Mixed into an optimiser: weight decay that does not go through the gradient, before the step."""

    apart: ClassVar[float] = 0.0

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        leaf.value = leaf.value * leaf.like(1 - leaf.rate * self.apart)
        return super()._leaf(leaf)  # type: ignore[misc, no-any-return]


def with_decay(kind: type[Optimiser], decay: float | None) -> type[Optimiser]:
    """The optimiser with weight decay apart from the gradient; itself where there is none."""
    return type(kind.__name__, (Apart, kind), {"apart": decay}) if decay else kind
