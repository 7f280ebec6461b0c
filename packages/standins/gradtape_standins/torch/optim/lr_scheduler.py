"""`torch.optim.lr_scheduler`: learning rates that change from epoch to epoch, by gradtape's schedules."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gradtape.optim import schedules
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.optim.optimizer import Optimizer

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first learning rate is passed over.\n"
    "  fix: optimizer.step() first, then scheduler.step()"
)


def check_optimizer(optimizer: Any) -> None:
    """Raise unless it is an optimiser."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


class LRScheduler:
    """Sets the learning rates of an optimiser: at once, and with every `step()`."""

    _step_count = 0

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self._is_initial = self._get_lr_called_within_step = False  # part of what PyTorch's state_dict shows
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def get_lr(self) -> list[float]:
        """The learning rates for the epoch `last_epoch`, one for each group."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        if self._step_count == 1 and not self.optimizer._stepped:
            warnings.warn(_TOO_EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """The learning rates as they are."""
        return list(self._last_lr)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is."""
        return {name: value for name, value in vars(self).items() if name != "optimizer" and not callable(value)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        vars(self).update(state_dict)


_LRScheduler = LRScheduler
"""What it was called before."""


class _Scheduled(LRScheduler):
    """A schedule of gradtape's, a function of the number of epochs."""

    def _schedule(self, base: float) -> Callable[[int], Any]:
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        return [float(self._schedule(base)(self.last_epoch)) for base in self.base_lrs]


class StepLR(_Scheduled):
    """Multiplied by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _schedule(self, base: float) -> Any:
        return schedules.step(base, self.step_size, self.gamma)


class MultiStepLR(_Scheduled):
    """Multiplied by `gamma` at each of `milestones`."""

    def __init__(self, optimizer: Any, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = list(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _schedule(self, base: float) -> Any:
        return schedules.multi_step(base, self.milestones, self.gamma)


class ExponentialLR(_Scheduled):
    """Multiplied by `gamma` every epoch."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _schedule(self, base: float) -> Any:
        return schedules.exponential(base, self.gamma)


class CosineAnnealingLR(_Scheduled):
    """Down to `eta_min` along half a wave within `T_max` epochs, and up again."""

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _schedule(self, base: float) -> Any:
        return schedules.cosine(base, self.T_max, self.eta_min, periodic=True)


class CosineAnnealingWarmRestarts(_Scheduled):
    """Down to `eta_min` along half a wave, and from the beginning again: after `T_0` epochs, then `T_mult` times it."""

    def __init__(self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def _schedule(self, base: float) -> Any:
        def restarted(epoch: float) -> Any:
            length: float = self.T_0
            while epoch >= length:
                epoch -= length
                length *= self.T_mult
            return schedules.cosine(base, int(length), self.eta_min)(epoch)

        return restarted


class CyclicLR(LRScheduler):
    """Between `base_lr` and `max_lr` and back again, in straight lines."""

    def __init__(
        self,
        optimizer: Any,
        base_lr: float,
        max_lr: float,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError("mode is invalid and scale_fn is None")
        self.base_lr, self.max_lr = base_lr, max_lr
        self._up, self._down = step_size_up, step_size_up if step_size_down is None else step_size_down
        self.mode, self.gamma, self.scale_mode = mode, gamma, scale_mode if scale_fn else "cycle"
        self._scale = scale_fn
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] = base_lr
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Rates between `base_lr` and `max_lr`, by the position in the cycle."""
        length = self._up + self._down
        cycle, within = divmod(self.last_epoch, length)
        height = within / self._up if within <= self._up else (length - within) / self._down
        if self._scale is not None:
            factor = self._scale(cycle + 1 if self.scale_mode == "cycle" else self.last_epoch)
        else:
            powers = {"triangular": 1.0, "triangular2": 0.5**cycle, "exp_range": self.gamma**self.last_epoch}
            factor = powers[self.mode]
        return [base + (self.max_lr - base) * height * factor for base in self.base_lrs]


class PolynomialLR(_Scheduled):
    """Down to 0 within `total_iters` epochs, as a power of what is left."""

    def __init__(self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _schedule(self, base: float) -> Any:
        return schedules.polynomial(base, self.total_iters, 0.0, self.power)


class OneCycleLR(_Scheduled):
    """Up to `max_lr`, then down to almost nothing."""

    def __init__(
        self,
        optimizer: Any,
        max_lr: float,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
            total_steps = epochs * steps_per_epoch
        self.total_steps = total_steps
        self._rates = (max_lr / div_factor, max_lr, max_lr / div_factor / final_div_factor)
        self._top = pct_start * total_steps - 1  # the step at which the rate is highest
        self._momenta = (base_momentum, max_momentum) if cycle_momentum else None
        self._turns = anneal_strategy == "cos"
        shape = (pct_start, anneal_strategy, div_factor, final_div_factor, three_phase)
        self._cycle = schedules.one_cycle(max_lr, total_steps, *shape)
        self._back = 2 * self._top if three_phase else self.total_steps  # from here on the momentum stays
        super().__init__(optimizer, last_epoch)

    def _schedule(self, base: float) -> Any:
        return self._rate

    def _rate(self, count: int) -> Any:
        """The rate at a step. PyTorch's curve goes on for one step behind its end: a cosine turns, a line does not."""
        end = self.total_steps - 1
        if count > self.total_steps:
            raise ValueError(f"Tried to step {count} times. The specified number of total steps is {self.total_steps}")
        if count <= end:
            return self._cycle(count)
        mirrored = self._cycle(2 * end - count)
        return mirrored if self._turns else 2 * self._cycle(end) - mirrored

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next step: momentum goes down while the rate goes up, and up again with it going down."""
        super().step(epoch)
        if self._momenta is None:
            return
        first, top, last = self._rates
        rate, (low, high) = self._last_lr[0], self._momenta
        beginning = first if self.last_epoch <= self._top or self._back < self.total_steps else last
        share = (rate - beginning) / (top - beginning) if self.last_epoch <= self._back else 0.0
        momentum = high + (low - high) * share
        for group in self.optimizer.param_groups:
            if "betas" in group:
                group["betas"] = (momentum, *group["betas"][1:])
            elif "momentum" in group:
                group["momentum"] = momentum
            else:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")


class LambdaLR(LRScheduler):
    """The first rate times what a function says of the epoch."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        several = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas = list(lr_lambda) if several else [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The initial rates times the user's factors for this epoch."""
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_lrs, self.lr_lambdas, strict=True)]


class MultiplicativeLR(LRScheduler):
    """The last rate times what a function says of the epoch."""

    def __init__(self, optimizer: Any, lr_lambda: Callable[[int], float], last_epoch: int = -1) -> None:
        self.lr_lambda = lr_lambda
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates times the user's factor for this epoch."""
        rates = [group["lr"] for group in self.optimizer.param_groups]
        return [rate * self.lr_lambda(self.last_epoch) if self.last_epoch > 0 else rate for rate in rates]


class ConstantLR(LRScheduler):
    """The first rate times `factor`, for `total_iters` epochs."""

    def __init__(self, optimizer: Any, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The initial rates, times `factor` in the first `total_iters` epochs."""
        return [base * (self.factor if self.last_epoch < self.total_iters else 1.0) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From `start_factor` to `end_factor` times the first rate within `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The initial rates times a factor that changes linearly over `total_iters` epochs."""
        share = min(self.last_epoch, self.total_iters) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * share
        return [base * factor for base in self.base_lrs]


class SequentialLR(LRScheduler):
    """Schedules one after the other: the next one begins at each of `milestones`."""

    def __init__(
        self, optimizer: Any, schedulers: Sequence[Any], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of the scheduler whose turn it is, with its epochs counted from its milestone."""
        number = sum(self.last_epoch >= milestone for milestone in self._milestones)
        chosen = self._schedulers[number]
        chosen.last_epoch = self.last_epoch - (self._milestones[number - 1] if number else 0)
        rates: list[float] = chosen.get_lr()
        return rates


class ChainedScheduler:
    """Schedules at the same time: each goes on from the rates that the others have set."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Any = None) -> None:
        self._schedulers = list(schedulers)
        self.optimizer = self._schedulers[0].optimizer if optimizer is None else optimizer
        first = [group["initial_lr"] for group in self.optimizer.param_groups]
        self._factors = [self._shares(scheduler, first) for scheduler in self._schedulers]
        self._set(first)

    @staticmethod
    def _shares(scheduler: Any, first: list[float]) -> list[float]:
        return [rate / base if base else 0.0 for rate, base in zip(scheduler.get_lr(), first, strict=True)]

    def _set(self, first: list[float]) -> None:
        for number, group in enumerate(self.optimizer.param_groups):
            group["lr"] = first[number]
            for shares in self._factors:
                group["lr"] *= shares[number]
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def step(self) -> None:
        """Go on to the next epoch in all of them."""
        first = [group["initial_lr"] for group in self.optimizer.param_groups]
        for number, scheduler in enumerate(self._schedulers):
            scheduler.last_epoch += 1
            self._factors[number] = self._shares(scheduler, first)
        self._set(first)

    def get_last_lr(self) -> list[float]:
        """The learning rates as they are."""
        return list(self._last_lr)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules are."""
        return {"_schedulers": [each.state_dict() for each in self._schedulers], "_last_lr": list(self._last_lr)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        for scheduler, held in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(held)
        self._last_lr = list(state_dict["_last_lr"])


class ReduceLROnPlateau:
    """Multiplied by `factor` when a metric has not improved for more than `patience` epochs."""

    def __init__(
        self,
        optimizer: Any,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0.0,
        eps: float = 1e-8,
    ) -> None:
        check_optimizer(optimizer)
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.optimizer = optimizer
        lowest = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * len(optimizer.param_groups)
        self._plateaus = [
            schedules.Plateau(factor, patience, mode, threshold, cooldown, least, eps, threshold_mode)
            for least in lowest
        ]
        self.last_epoch = 0
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics: Any, epoch: Any = None) -> None:
        """Tell how the epoch ended."""
        for group, plateau in zip(self.optimizer.param_groups, self._plateaus, strict=True):
            group["lr"] = plateau.step(group["lr"], float(metrics))
        self.last_epoch += 1
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    @property
    def best(self) -> float:
        """The best metric so far."""
        return float(self._plateaus[0].best)

    @property
    def num_bad_epochs(self) -> int:
        """How many epochs ago it was."""
        return int(self._plateaus[0].bad_epochs)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is."""
        plateaus = [dict(vars(plateau)) for plateau in self._plateaus]
        shown: dict[str, Any] = {"best": self.best, "num_bad_epochs": self.num_bad_epochs}
        return {"plateaus": plateaus, "last_epoch": self.last_epoch, "_last_lr": list(self._last_lr), **shown}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        for plateau, held in zip(self._plateaus, state_dict["plateaus"], strict=True):
            vars(plateau).update(held)
        self.last_epoch, self._last_lr = state_dict["last_epoch"], list(state_dict["_last_lr"])

    def get_last_lr(self) -> list[float]:
        """The learning rates as they are."""
        return list(self._last_lr)


__getattr__ = missing(__name__)
