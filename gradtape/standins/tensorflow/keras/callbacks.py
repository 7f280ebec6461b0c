"""`tf.keras.callbacks`: what `fit` tells as it goes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradtape.standins.names import missing


class Callback:
    """The base of callbacks: methods that `fit` calls, and the model."""

    model: Any = None
    params: Any = None

    def set_model(self, model: Any) -> None:
        """Told before training begins."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """After the last epoch."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch, with its figures."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch, with the figures so far."""


class History(Callback):
    """The figures of each epoch: what `fit` returns."""

    def __init__(self) -> None:
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Note the figures."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class EarlyStopping(Callback):
    """Stops when a figure has not become better for `patience` epochs."""

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0.0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        self.monitor, self.min_delta, self.patience = monitor, abs(min_delta), patience
        self._sign = (
            -1.0 if mode == "max" or (mode == "auto" and monitor.endswith("acc")) or "accuracy" in monitor else 1.0
        )
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.baseline = baseline
        self.stopped_epoch = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin to count."""
        self._wait, self.best = 0, math.inf if self.baseline is None else self._sign * self.baseline
        self._kept: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare with the best figure."""
        if epoch < self.start_from_epoch or self.monitor not in (logs or {}):
            return
        figure = self._sign * logs[self.monitor]
        if figure < self.best - self.min_delta:
            self.best, self._wait = figure, 0
            self._kept = self.model.get_weights() if self.restore_best_weights else None
            return
        self._wait += 1
        if self._wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self._kept is not None:
                self.model.set_weights(self._kept)


class LambdaCallback(Callback):
    """Functions as callbacks: `LambdaCallback(on_epoch_end=lambda epoch, logs: ...)`."""

    def __init__(self, **functions: Callable[..., Any]) -> None:
        for name, function in functions.items():
            if not hasattr(Callback, name):
                raise ValueError(f"there is no moment {name!r} in training")
            setattr(self, name, function)


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch: `schedule(epoch, rate)`."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        self.schedule = schedule

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Set the rate."""
        optimizer = self.model.optimizer
        optimizer.learning_rate = self.schedule(epoch, float(optimizer.learning_rate))


__all__ = ["Callback", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler"]
__getattr__ = missing(__name__)
