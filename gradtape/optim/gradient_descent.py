"""SGD, ASGD, Lion and Rprop: steps along the gradient, with momentum, and along its sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import argument_error
from gradtape.optim.leaf import Leaf, Slots
from gradtape.optim.optimiser import Optimiser, Schedule


class SGD(Optimiser):
    """Stochastic gradient descent: p -= rate v, where v = momentum v + (1 - dampening) g (the first v is g).

    With `nesterov` the step is along g + momentum v. `weight_decay` is added to the gradient, times the parameter.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.SGD(0.1, momentum=0.9, nesterov=True)
    >>> params, state = opt.update(np.ones(1), opt.init(np.zeros(1)), np.zeros(1))
    >>> params
    array([-0.19])
    """

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        **common: Any,
    ) -> None:
        options = {"momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov}
        super().__init__(learning_rate, options, **common)
        self._slots = ("momentum",) if self._anywhere("momentum") else ()
        if nesterov and (momentum <= 0 or dampening):
            raise argument_error(
                OperandError,
                f"SGD: nesterov=True with momentum={momentum} and dampening={dampening}.",
                "momentum above 0, and no dampening",
            )

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        leaf.decay()
        options, direction, slots = leaf.options, leaf.gradient, leaf.slots
        momentum, dampening = options["momentum"], options["dampening"]
        if momentum:
            velocity = momentum * slots["momentum"] + (1 - dampening) * direction
            if dampening:
                velocity = np.where(leaf.steps == 1, direction, velocity)
            direction = direction + momentum * velocity if options["nesterov"] else velocity
            slots = {"momentum": velocity}
        return leaf.along(direction), slots


class Lion(Optimiser):
    """p -= rate sign(b1 m + (1 - b1) g), then m = b2 m + (1 - b2) g; weight decay apart from the gradient.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.Lion(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0]
    array([-0.1])
    """

    _slots = ("first",)

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(learning_rate, {"betas": betas, "weight_decay": weight_decay}, **common)

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        leaf.decay(apart=True)
        first, second = leaf.options["betas"]
        kept = leaf.slots["first"]
        direction = np.sign(first * kept + (1 - first) * leaf.gradient)
        return leaf.along(direction), {"first": second * kept + (1 - second) * leaf.gradient}


class ASGD(Optimiser):
    """SGD whose rate falls, with the mean of the parameters from step `t0` on in the slot `average` of the state.

    p = (1 - lambd eta) p - eta g, with eta = rate / (1 + lambd rate (steps before))^alpha.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.ASGD(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0]
    array([-0.5])
    """

    _slots = ("average",)

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        **common: Any,
    ) -> None:
        options = {"lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay}
        super().__init__(learning_rate, options, **common)

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        leaf.decay()
        options, average = leaf.options, leaf.slots["average"]
        before = leaf.steps - 1
        eta = leaf.rate / (1 + options["lambd"] * leaf.rate * before) ** options["alpha"]
        share = 1 / np.maximum(1.0, before - options["t0"])
        value = leaf.value * leaf.like(1 - options["lambd"] * eta) - leaf.like(eta) * leaf.gradient
        return value, {"average": average + leaf.like(share) * (value - average)}


class Rprop(Optimiser):
    """Along the sign of the gradient by a step of its own for each number, which grows while the sign stays.

    `etas` are the factors by which it shrinks when the sign has changed, and grows; `step_sizes` are its limits. The
    learning rate is the first step.

    >>> import numpy as np, gradtape as gt
    >>> opt = gt.optim.Rprop(0.1)
    >>> opt.update(np.array([5.0]), opt.init(np.zeros(1)), np.zeros(1))[0]
    array([-0.1])
    """

    _slots = ("previous", "step")
    _pairs = ("etas", "step_sizes")

    def __init__(
        self,
        learning_rate: float | Schedule = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        **common: Any,
    ) -> None:
        super().__init__(learning_rate, {"etas": etas, "step_sizes": step_sizes}, **common)
        if not 0 < etas[0] < 1 < etas[1]:
            raise argument_error(OperandError, f"Rprop: etas={etas!r}.", "a factor between 0 and 1, and one above 1")

    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        (less, more), (least, most) = leaf.options["etas"], leaf.options["step_sizes"]
        dtype, agreement = leaf.value.dtype, leaf.gradient * leaf.slots["previous"]
        factor = np.where(agreement > 0, more, np.where(agreement < 0, less, 1.0)).astype(dtype)
        size = np.where(leaf.steps == 1, leaf.like(leaf.rate), leaf.slots["step"])
        size = np.clip(size * factor, least, most).astype(dtype)
        gradient = np.where(agreement < 0, np.zeros((), dtype), leaf.gradient)
        return leaf.value - np.sign(gradient) * size, {"previous": gradient, "step": size}
