"""Learning rates that change: functions of the number of updates made so far, to be given as `learning_rate`.

All are pure, and written with operations that `gt.jit` traces, so that a compiled step needs no new trace when the rate
changes. `Plateau` is different: it looks at a metric, and is asked between epochs.

>>> import gradtape as gt
>>> schedule = gt.optim.schedules.warmup(gt.optim.schedules.cosine(1.0, 100), 10)
>>> [round(float(schedule(step)), 2) for step in (0, 5, 10, 60, 110)]
[0.0, 0.5, 1.0, 0.5, 0.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import argument_error

Schedule = Callable[[Any], Any]

__all__ = [
    "Plateau",
    "constant",
    "cosine",
    "exponential",
    "multi_step",
    "one_cycle",
    "piecewise",
    "polynomial",
    "step",
    "warmup",
]


def _check(schedule: str, least: float = 0.0, **numbers: Any) -> None:
    for name, value in numbers.items():
        if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not value >= least:
            raise argument_error(OperandError, f"{schedule}: {name}={value!r}.", f"a number of at least {least:g}")


def constant(rate: float) -> Schedule:
    """Always `rate`.

    >>> import gradtape as gt
    >>> float(gt.optim.schedules.constant(0.1)(7))
    0.1
    """
    _check("constant", rate=rate)
    return lambda count: np.float64(rate)


def step(rate: float, step_size: int, gamma: float = 0.1) -> Schedule:
    """`rate`, multiplied by `gamma` after every `step_size` updates.

    >>> import gradtape as gt
    >>> [round(float(gt.optim.schedules.step(1.0, 10)(count)), 3) for count in (0, 9, 10, 20)]
    [1.0, 1.0, 0.1, 0.01]
    """
    _check("step", rate=rate, gamma=gamma)
    _check("step", 1, step_size=step_size)
    return lambda count: rate * np.power(float(gamma), count // step_size)


def multi_step(rate: float, milestones: Sequence[int], gamma: float = 0.1) -> Schedule:
    """`rate`, multiplied by `gamma` when each of `milestones` is reached.

    >>> import gradtape as gt
    >>> [round(float(gt.optim.schedules.multi_step(1.0, [2, 5])(count)), 3) for count in (1, 2, 5)]
    [1.0, 0.1, 0.01]
    """
    _check("multi_step", rate=rate, gamma=gamma)
    places = np.sort(np.asarray(milestones))
    return lambda count: rate * np.power(float(gamma), np.sum(count >= places))


def piecewise(boundaries: Sequence[int], rates: Sequence[float]) -> Schedule:
    """The first of `rates` until the first of `boundaries` is reached, then the second, and so on.

    >>> import gradtape as gt
    >>> [float(gt.optim.schedules.piecewise([2, 5], [0.3, 0.2, 0.1])(count)) for count in (1, 2, 5)]
    [0.3, 0.2, 0.1]
    """
    if len(rates) != len(boundaries) + 1 or list(boundaries) != sorted(boundaries):
        raise argument_error(
            OperandError,
            f"piecewise: {len(boundaries)} boundaries and {len(rates)} rates.",
            "boundaries that grow, and one rate more than there are boundaries",
        )
    values = np.asarray(rates, float)

    def schedule(count: Any) -> Any:
        rate: Any = values[0]
        for boundary, value in zip(boundaries, values[1:], strict=True):
            rate = np.where(count >= boundary, value, rate)
        return rate

    return schedule


def exponential(rate: float, gamma: float) -> Schedule:
    """`rate`, multiplied by `gamma` after every update.

    >>> import gradtape as gt
    >>> float(gt.optim.schedules.exponential(1.0, 0.5)(3))
    0.125
    """
    _check("exponential", rate=rate, gamma=gamma)
    return lambda count: rate * np.power(float(gamma), count)


def polynomial(rate: float, steps: int, end: float = 0.0, power: float = 1.0) -> Schedule:
    """From `rate` down to `end` within `steps` updates: (rate - end) (1 - count / steps)^power + end.

    >>> import gradtape as gt
    >>> [float(gt.optim.schedules.polynomial(1.0, 10)(count)) for count in (0, 5, 20)]
    [1.0, 0.5, 0.0]
    """
    _check("polynomial", rate=rate, end=end, power=power)
    _check("polynomial", 1, steps=steps)
    return lambda count: (rate - end) * (1.0 - np.minimum(count, steps) / steps) ** power + end


def cosine(rate: float, steps: int, minimum: float = 0.0, periodic: bool = False) -> Schedule:
    """From `rate` down to `minimum` along half a wave within `steps` updates, and there it stays.

    With `periodic` it goes up again, and so on.

    >>> import gradtape as gt
    >>> [round(float(gt.optim.schedules.cosine(1.0, 10)(count)), 3) for count in (0, 5, 10, 15)]
    [1.0, 0.5, 0.0, 0.0]
    """
    _check("cosine", rate=rate, minimum=minimum)
    _check("cosine", 1, steps=steps)

    def schedule(count: Any) -> Any:
        share = (count if periodic else np.minimum(count, steps)) * (math.pi / steps)
        return minimum + (rate - minimum) * (1 + np.cos(share)) / 2

    return schedule


def warmup(after: float | Schedule, steps: int, start: float = 0.0) -> Schedule:
    """From `start` times the first rate of `after` up to it within `steps` updates; then `after`, from its beginning.

    >>> import gradtape as gt
    >>> [float(gt.optim.schedules.warmup(0.4, 4)(count)) for count in (0, 2, 4, 9)]
    [0.0, 0.2, 0.4, 0.4]
    """
    _check("warmup", 1, steps=steps)
    _check("warmup", start=start)
    schedule = after if callable(after) else constant(after)

    def warmed(count: Any) -> Any:
        rising = schedule(0) * (start + (1 - start) * np.minimum(count, steps) / steps)
        return np.where(count < steps, rising, schedule(np.maximum(count - steps, 0)))

    return warmed


def one_cycle(
    max_rate: float,
    total_steps: int,
    pct_start: float = 0.3,
    anneal_strategy: str = "cos",
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
    three_phase: bool = False,
) -> Schedule:
    """Up from max_rate / div_factor to `max_rate` in the share `pct_start` of all updates, then down to almost nothing.

    In `three_phase`s it goes down as quickly as it went up, to where it began, and then on.

    >>> import gradtape as gt
    >>> schedule = gt.optim.schedules.one_cycle(1.0, 100)
    >>> round(float(schedule(0)), 3), float(schedule(29)), round(float(schedule(99)), 6)
    (0.04, 1.0, 4e-06)
    """
    _check("one_cycle", max_rate=max_rate, pct_start=pct_start)
    _check("one_cycle", 1, total_steps=total_steps, div_factor=div_factor, final_div_factor=final_div_factor)
    if anneal_strategy not in ("cos", "linear"):
        raise argument_error(OperandError, f"one_cycle: anneal_strategy={anneal_strategy!r}.", '"cos" or "linear"')
    first, last = max_rate / div_factor, max_rate / div_factor / final_div_factor
    top, end = pct_start * total_steps - 1, total_steps - 1
    back = 2 * top if three_phase else top

    def between(begin: float, finish: float, share: Any) -> Any:
        share = np.clip(share, 0.0, 1.0)
        if anneal_strategy == "linear":
            return begin + (finish - begin) * share
        return finish + (begin - finish) / 2 * (1 + np.cos(math.pi * share))

    def schedule(count: Any) -> Any:
        rising = between(first, max_rate, count / max(top, 1e-12))
        falling = between(first if three_phase else max_rate, last, (count - back) / max(end - back, 1e-12))
        if three_phase:
            returning = between(max_rate, first, (count - top) / max(back - top, 1e-12))
            falling = np.where(count <= back, returning, falling)
        return np.where(count <= top, rising, falling)

    return schedule


class Plateau:
    """A rate that is multiplied by `factor` when a metric has not improved for more than `patience` epochs.

    It improves by more than the share `threshold` of the best, or by more than `threshold` with threshold_mode="abs".
    It then rests for `cooldown` epochs, and does not go below `min_rate`. Changes smaller than `eps` are not made.

    >>> import gradtape as gt
    >>> plateau = gt.optim.schedules.Plateau(factor=0.5, patience=1)
    >>> rate = 1.0
    >>> for loss in (3.0, 2.0, 2.0, 2.0, 2.0):
    ...     rate = plateau.step(rate, loss)
    >>> rate
    0.5
    """

    def __init__(
        self,
        factor: float = 0.1,
        patience: int = 10,
        mode: str = "min",
        threshold: float = 1e-4,
        cooldown: int = 0,
        min_rate: float = 0.0,
        eps: float = 1e-8,
        threshold_mode: str = "rel",
    ) -> None:
        if threshold_mode not in ("rel", "abs"):
            raise argument_error(OperandError, f"Plateau: threshold_mode={threshold_mode!r}.", '"rel" or "abs"')
        if mode not in ("min", "max"):
            raise argument_error(OperandError, f"Plateau: mode={mode!r}.", '"min" or "max"')
        if not 0 < factor < 1:
            raise argument_error(OperandError, f"Plateau: factor={factor!r}.", "a number between 0 and 1")
        _check("Plateau", patience=patience, threshold=threshold, cooldown=cooldown, min_rate=min_rate, eps=eps)
        self.factor, self.patience, self.mode = factor, patience, mode
        self.threshold, self.cooldown, self.min_rate, self.eps = threshold, cooldown, min_rate, eps
        self.threshold_mode = threshold_mode
        self.best = math.inf if mode == "min" else -math.inf
        self.bad_epochs = 0
        self.resting = 0

    def step(self, rate: float, metric: float) -> float:
        """The rate for the next epoch, after one that ended with `metric`."""
        metric = float(metric)
        sign = 1 if self.mode == "min" else -1
        margin = self.threshold * (self.best if self.threshold_mode == "rel" else 1.0)
        wanted = self.best - sign * margin
        better = sign * metric < sign * wanted if math.isfinite(self.best) else sign * metric < math.inf
        if better:
            self.best, self.bad_epochs = metric, 0
        else:
            self.bad_epochs += 1
        if self.resting > 0:
            self.resting, self.bad_epochs = self.resting - 1, 0
        if self.bad_epochs > self.patience:
            self.resting, self.bad_epochs = self.cooldown, 0
            lower = max(float(rate) * self.factor, self.min_rate)
            return lower if rate - lower > self.eps else float(rate)
        return float(rate)
