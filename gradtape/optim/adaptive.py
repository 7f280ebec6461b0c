"""Optimisers with a step size for each number: Adam and its relatives, RMSprop, Adagrad, Adadelta.

The formulas, the order of their operations included, are those of PyTorch, so that runs can be compared digit by digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.optim.gradient_descent import decayed, shrunk
from gradtape.optim.optimiser import Optimiser, Options, Schedule, Slots, like


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
        options = {"betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        super().__init__(learning_rate, {**options, "eps_hat": eps_hat}, **common)
        if self._anywhere("amsgrad"):
            self._slots = ("first", "second", "largest")

    def _leaf(
        self, value: Any, gradient: Any, slots: Slots, steps: Any, rate: Any, options: Options
    ) -> tuple[Any, Slots]:
        if self._decoupled:
            value = shrunk(value, rate, options["weight_decay"])
        else:
            gradient = decayed(gradient, value, options["weight_decay"])
        beta1, beta2 = options["betas"]
        first = averaged(slots["first"], gradient, beta1)
        second = beta2 * slots["second"] + (1 - beta2) * gradient**2
        new = {**slots, "first": first, "second": second}
        if options["amsgrad"]:
            second = new["largest"] = np.maximum(slots["largest"], second)
        correction = like(np.sqrt(1 - beta2**steps), value)
        scale = like(rate / (1 - beta1**steps), value)
        before, after = (options["eps"], 0.0) if options["eps_hat"] else (0.0, options["eps"])
        size = (np.sqrt(second) + before if before else np.sqrt(second)) / correction
        return value - scale * (first / (size + after if after else size)), new


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
            "betas": tuple(betas),
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

    def _leaf(
        self, value: Any, gradient: Any, slots: Slots, steps: Any, rate: Any, options: Options
    ) -> tuple[Any, Slots]:
        if options["decoupled_weight_decay"]:
            value = shrunk(value, rate, options["weight_decay"])
        else:
            gradient = decayed(gradient, value, options["weight_decay"])
        beta1, beta2 = options["betas"]
        now, later = self._momentum(steps, options), self._momentum(steps + 1, options)
        product = slots["product"] * now
        first = averaged(slots["first"], gradient, beta1)
        second = beta2 * slots["second"] + (1 - beta2) * gradient**2
        size = np.sqrt(second / like(1 - beta2**steps, value)) + options["eps"]
        value = value - like(rate * (1.0 - now) / (1.0 - product), value) * (gradient / size)
        value = value - like(rate * later / (1.0 - product * later), value) * (first / size)
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
            "betas": tuple(betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(learning_rate, options, **common)

    def _leaf(
        self, value: Any, gradient: Any, slots: Slots, steps: Any, rate: Any, options: Options
    ) -> tuple[Any, Slots]:
        if options["decoupled_weight_decay"]:
            value = shrunk(value, rate, options["weight_decay"])
        else:
            gradient = decayed(gradient, value, options["weight_decay"])
        beta1, beta2 = options["betas"]
        first = averaged(slots["first"], gradient, beta1)
        second = beta2 * slots["second"] + (1 - beta2) * gradient**2
        # how many gradients the average v is worth: at most `most`, and after `steps` steps `worth` of them
        most, rest = 2 / (1 - beta2) - 1, 1 - beta2**steps
        worth = most - 2 * steps * beta2**steps / rest
        known = worth > 5.0
        safe = np.where(known, worth, 6.0)
        share = np.sqrt((safe - 4) * (safe - 2) * most / ((most - 4) * (most - 2) * safe) * rest)
        adapted = like(share, value) / (np.sqrt(second) + options["eps"])
        direction = first / like(1 - beta1**steps, value) * like(rate, value)
        moved = direction * np.where(known, adapted, np.ones((), value.dtype))
        return value - moved, {"first": first, "second": second}


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
        super().__init__(learning_rate, {"betas": tuple(betas), "eps": eps, "weight_decay": weight_decay}, **common)

    def _leaf(
        self, value: Any, gradient: Any, slots: Slots, steps: Any, rate: Any, options: Options
    ) -> tuple[Any, Slots]:
        gradient = decayed(gradient, value, options["weight_decay"])
        beta1, beta2 = options["betas"]
        first = averaged(slots["first"], gradient, beta1)
        largest = np.maximum(beta2 * slots["largest"], np.abs(gradient) + options["eps"])
        scale = like(rate / (1 - beta1**steps), value)
        return value - scale * (first / largest), {"first": first, "largest": largest}


class RMSprop(Optimiser):
    """p -= rate g / (sqrt(v) + eps), with a moving average v of g^2; `centered` subtracts the square of that of g.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.RMSprop(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0].round(6)
    array([-1.])
    """

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

    def _leaf(
        self, value: Any, gradient: Any, slots: Slots, steps: Any, rate: Any, options: Options
    ) -> tuple[Any, Slots]:
        gradient = decayed(gradient, value, options["weight_decay"])
        alpha = options["alpha"]
        new = {**slots, "second": alpha * slots["second"] + (1 - alpha) * gradient**2}
        spread = new["second"]
        if options["centered"]:
            new["first"] = averaged(slots["first"], gradient, alpha)
            spread = spread - new["first"] ** 2
        step = gradient / (np.sqrt(spread) + options["eps"])
        if options["momentum"]:
            step = new["momentum"] = options["momentum"] * slots["momentum"] + step
        return value - like(rate, value) * step, new


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

    def _leaf(
        self, value: Any, gradient: Any, slots: Slots, steps: Any, rate: Any, options: Options
    ) -> tuple[Any, Slots]:
        gradient = decayed(gradient, value, options["weight_decay"])
        total = slots["total"] + gradient**2
        scale = like(rate / (1 + (steps - 1) * options["lr_decay"]), value)
        return value - scale * (gradient / (np.sqrt(total) + options["eps"])), {"total": total}


class Adadelta(Optimiser):
    """p -= rate d, where d = g sqrt(u + eps) / sqrt(v + eps), with moving averages v of g^2 and u of d^2.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.Adadelta()
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0].round(5)
    array([-0.00316])
    """

    _slots = ("second", "steps")

    def __init__(
        self,
        learning_rate: float | Schedule = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(learning_rate, {"rho": rho, "eps": eps, "weight_decay": weight_decay}, **common)

    def _leaf(
        self, value: Any, gradient: Any, slots: Slots, steps: Any, rate: Any, options: Options
    ) -> tuple[Any, Slots]:
        gradient = decayed(gradient, value, options["weight_decay"])
        rho, eps = options["rho"], options["eps"]
        second = rho * slots["second"] + (1 - rho) * gradient**2
        step = np.sqrt(slots["steps"] + eps) / np.sqrt(second + eps) * gradient
        return value - like(rate, value) * step, {
            "second": second,
            "steps": rho * slots["steps"] + (1 - rho) * step**2,
        }


def averaged(average: Any, new: Any, beta: float) -> Any:
    """The moving average, a step on: beta average + (1 - beta) new."""
    return average + (1 - beta) * (new - average)
