"""Optimisers with a step size for each number: Adam and its relatives, RMSprop, Adagrad, Adadelta.

The formulas, the order of their operations included, are those of PyTorch, so that runs can be compared digit by digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.optim.leaf import Leaf, Options, Slots, averaged
from gradtape.optim.optimiser import Optimiser, Schedule


class Adam(Optimiser):
    """p -= rate m' / (sqrt(v') + eps), with moving averages m of g and v of g^2, corrected for beginning at zero.

    `amsgrad` keeps the largest v so far. `weight_decay` is added to the gradient, times the parameter; `AdamW` keeps it
    apart. With `eps_hat`, eps is added before the correction, as Keras does: sqrt(v) + eps is what is corrected.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.Adam(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0].round(6)
    array([-0.1])
    """

    _slots: tuple[str, ...] = ("first", "second")
    _decoupled = False

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        eps_hat: bool = False,
        **common: Any,
    ) -> None:
        options = {"betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        super().__init__(learning_rate, {**options, "eps_hat": eps_hat}, **common)
        if self._anywhere("amsgrad"):
            self._slots = ("first", "second", "largest")

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        options = leaf.options
        leaf.decay(apart=self._decoupled)
        first, second = leaf.moments()
        new = {**leaf.slots, "first": first, "second": second}
        if options["amsgrad"]:
            second = new["largest"] = np.maximum(leaf.slots["largest"], second)
        beta1, beta2 = options["betas"]
        correction = leaf.like(np.sqrt(1 - beta2**leaf.steps))
        scale = leaf.like(leaf.rate / (1 - beta1**leaf.steps))
        before, after = (options["eps"], 0.0) if options["eps_hat"] else (0.0, options["eps"])
        size = (np.sqrt(second) + before if before else np.sqrt(second)) / correction
        return leaf.value - scale * (first / (size + after if after else size)), new


class AdamW(Adam):
    """`Adam` with weight decay that does not go through the gradient: p *= 1 - rate weight_decay.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.AdamW(0.1, weight_decay=0.5)
    >>> opt.update(np.zeros(1), opt.init(np.ones(1)), np.ones(1))[0]
    array([0.95])
    """

    _decoupled = True

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        eps_hat: bool = False,
        **common: Any,
    ) -> None:
        super().__init__(learning_rate, betas, eps, weight_decay, amsgrad, eps_hat, **common)


class NAdam(Optimiser):
    """`Adam` with Nesterov's momentum, whose strength grows along with the steps by `momentum_decay`.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.NAdam(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0].shape
    (1,)
    """

    _slots = ("first", "second", "product")

    def __init__(
        self,
        learning_rate: float | Schedule = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        **common: Any,
    ) -> None:
        options = {
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(learning_rate, options, **common)

    def _fresh(self, name: str, value: Any, options: Options) -> Any:
        return np.float64(1.0) if name == "product" else super()._fresh(name, value, options)

    def _momentum(self, steps: Any, options: Options) -> Any:
        return options["betas"][0] * (1.0 - 0.5 * 0.96 ** (steps * options["momentum_decay"]))

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        options, steps = leaf.options, leaf.steps
        leaf.decay(apart=options["decoupled_weight_decay"])
        first, second = leaf.moments()
        now, later = self._momentum(steps, options), self._momentum(steps + 1, options)
        product = leaf.slots["product"] * now
        size = np.sqrt(second / leaf.like(1 - options["betas"][1] ** steps)) + options["eps"]
        value = leaf.value - leaf.like(leaf.rate * (1.0 - now) / (1.0 - product)) * (leaf.gradient / size)
        value = value - leaf.like(leaf.rate * later / (1.0 - product * later)) * (first / size)
        return value, {"first": first, "second": second, "product": product}


class RAdam(Optimiser):
    """`Adam` without the division by sqrt(v') while too few steps were made to know v, and with a part of it then.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.RAdam(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0]
    array([-0.5])
    """

    _slots = ("first", "second")

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        **common: Any,
    ) -> None:
        options = {
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(learning_rate, options, **common)

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        options, steps = leaf.options, leaf.steps
        leaf.decay(apart=options["decoupled_weight_decay"])
        first, second = leaf.moments()
        beta1, beta2 = options["betas"]
        # how many gradients the average v is worth: at most `most`, and after `steps` steps `worth` of them
        most, rest = 2 / (1 - beta2) - 1, 1 - beta2**steps
        worth = most - 2 * steps * beta2**steps / rest
        known = worth > 5.0
        safe = np.where(known, worth, 6.0)
        share = np.sqrt((safe - 4) * (safe - 2) * most / ((most - 4) * (most - 2) * safe) * rest)
        adapted = leaf.like(share) / (np.sqrt(second) + options["eps"])
        direction = first / leaf.like(1 - beta1**steps) * leaf.like(leaf.rate)
        moved = direction * np.where(known, adapted, np.ones((), leaf.value.dtype))
        return leaf.value - moved, {"first": first, "second": second}


class Adamax(Optimiser):
    """`Adam` with the largest recent |g| in the place of the root of v.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.Adamax(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0].round(6)
    array([-0.1])
    """

    _slots = ("first", "largest")

    def __init__(
        self,
        learning_rate: float | Schedule = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(learning_rate, {"betas": betas, "eps": eps, "weight_decay": weight_decay}, **common)

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        leaf.decay()
        beta1, beta2 = leaf.options["betas"]
        first = averaged(leaf.slots["first"], leaf.gradient, beta1)
        largest = np.maximum(beta2 * leaf.slots["largest"], np.abs(leaf.gradient) + leaf.options["eps"])
        scale = leaf.like(leaf.rate / (1 - beta1**leaf.steps))
        return leaf.value - scale * (first / largest), {"first": first, "largest": largest}


class RMSprop(Optimiser):
    """p -= rate g / (sqrt(v) + eps), with a moving average v of g^2; `centered` subtracts the square of that of g.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.RMSprop(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0].round(6)
    array([-1.])
    """

    _shares = ("alpha",)

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        **common: Any,
    ) -> None:
        options = {"alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum, "centered": centered}
        super().__init__(learning_rate, options, **common)
        extra = {"momentum": "momentum", "first": "centered"}
        self._slots = ("second", *(slot for slot, option in extra.items() if self._anywhere(option)))

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        leaf.decay()
        options, gradient = leaf.options, leaf.gradient
        alpha, slots = options["alpha"], leaf.slots
        new = {**slots, "second": alpha * slots["second"] + (1 - alpha) * gradient**2}
        spread = new["second"]
        if options["centered"]:
            new["first"] = averaged(slots["first"], gradient, alpha)
            spread = spread - new["first"] ** 2
        step = gradient / (np.sqrt(spread) + options["eps"])
        if options["momentum"]:
            step = new["momentum"] = options["momentum"] * slots["momentum"] + step
        return leaf.along(step), new


class Adagrad(Optimiser):
    """p -= rate g / (sqrt(the sum of all g^2) + eps); the rate falls by 1 / (1 + steps lr_decay).

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.Adagrad(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0].round(6)
    array([-0.1])
    """

    _slots = ("total",)

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        **common: Any,
    ) -> None:
        options = {
            "lr_decay": lr_decay,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "eps": eps,
        }
        super().__init__(learning_rate, options, **common)

    def _fresh(self, name: str, value: Any, options: Options) -> Any:
        return np.full(value.shape, options["initial_accumulator_value"], value.dtype)

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        leaf.decay()
        total = leaf.slots["total"] + leaf.gradient**2
        scale = leaf.like(leaf.rate / (1 + (leaf.steps - 1) * leaf.options["lr_decay"]))
        return leaf.value - scale * (leaf.gradient / (np.sqrt(total) + leaf.options["eps"])), {"total": total}


class Adadelta(Optimiser):
    """p -= rate d, where d = g sqrt(u + eps) / sqrt(v + eps), with moving averages v of g^2 and u of d^2.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.Adadelta()
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0].round(5)
    array([-0.00316])
    """

    _slots = ("second", "steps")
    _shares = ("rho",)

    def __init__(
        self,
        learning_rate: float | Schedule = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(learning_rate, {"rho": rho, "eps": eps, "weight_decay": weight_decay}, **common)

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        leaf.decay()
        rho, eps = leaf.options["rho"], leaf.options["eps"]
        second = rho * leaf.slots["second"] + (1 - rho) * leaf.gradient**2
        step = np.sqrt(leaf.slots["steps"] + eps) / np.sqrt(second + eps) * leaf.gradient
        return leaf.along(step), {"second": second, "steps": rho * leaf.slots["steps"] + (1 - rho) * step**2}
