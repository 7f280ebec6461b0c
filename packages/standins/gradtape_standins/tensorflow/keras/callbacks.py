"""`tf.keras.callbacks`: what `fit`, `evaluate` and `predict` tell as they go."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.errors import explained


class Callback:
    """The base of callbacks: methods that `fit` calls, the model, and the parameters of the run.

    >>> from gradtape_standins import tensorflow as tf
    >>> class Shout(tf.keras.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(epoch, sorted(logs))
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> history = model.fit(tf.ones([4, 2]), tf.ones([4, 1]), epochs=2, verbose=0, callbacks=[Shout()])
    0 ['loss']
    1 ['loss']
    """

    model: Any = None
    params: Any = None

    def set_model(self, model: Any) -> None:
        """Told before the run begins."""
        self.model = model

    def set_params(self, params: dict[str, Any]) -> None:
        """Told before the run begins: how many epochs and steps there will be."""
        self.params = params

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """After the last epoch, with its figures."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch, with its figures."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of training."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of training, with the figures so far."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of training."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of training, with the figures so far."""
        self.on_batch_end(batch, logs)

    def on_test_begin(self, logs: Any = None) -> None:
        """Before an evaluation."""

    def on_test_end(self, logs: Any = None) -> None:
        """After an evaluation, with its figures."""

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of evaluation."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of evaluation, with the figures so far."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before predictions."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After predictions."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of predictions."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of predictions, with its `outputs`."""


class CallbackList:
    """Callbacks that are told together: `callbacks.on_epoch_end(epoch, logs)` tells each of them."""

    def __init__(self, callbacks: Any, model: Any, **params: Any) -> None:
        if isinstance(callbacks, CallbackList):
            callbacks = callbacks.callbacks
        self.callbacks: list[Any] = [callbacks] if isinstance(callbacks, Callback) else list(callbacks or [])
        for callback in self.callbacks:
            callback.set_model(model)
            callback.set_params(params)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("on_"):
            raise AttributeError(name)

        def tell(*args: Any) -> None:
            counted = name.endswith(("batch_begin", "batch_end", "epoch_begin", "epoch_end"))
            given = (*args, {}) if len(args) == int(counted) else args
            for callback in self.callbacks:
                getattr(callback, name)(*given)

        return tell


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


def _sign(mode: str, monitor: str) -> float:
    """1 if less is better, -1 if more is: as `mode` says, or the name of the figure."""
    if mode not in ("auto", "min", "max"):
        raise ValueError(explained(f"mode={mode!r}; 'auto', 'min' or 'max' is wanted"))
    grows = monitor.endswith(("acc", "accuracy", "auc", "precision", "recall")) or "accuracy" in monitor
    return -1.0 if mode == "max" or (mode == "auto" and grows) else 1.0


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
        self.monitor, self.min_delta, self.patience, self.verbose = monitor, abs(min_delta), patience, verbose
        self._sign = _sign(mode, monitor)
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.baseline = baseline
        self.stopped_epoch = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin to count."""
        self.wait, self._best = 0, math.inf if self.baseline is None else self._sign * self.baseline
        self.best: float | None = None
        self.best_epoch = 0
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare with the best figure."""
        if epoch < self.start_from_epoch or self.monitor not in (logs or {}):
            return
        figure = self._sign * logs[self.monitor]
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if figure < self._best - self.min_delta:
            self._best, self.best, self.wait, self.best_epoch = figure, logs[self.monitor], 0, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        """Say when it was stopped, and give the best numbers back."""
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose:
                print(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(Callback):
    """Multiplies the learning rate by `factor` when a figure has not become better for `patience` epochs."""

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(explained(f"ReduceLROnPlateau does not support a factor >= 1.0. Got {factor}"))
        self.monitor, self.factor, self.patience, self.verbose = monitor, factor, patience, verbose
        self.min_delta, self.cooldown, self.min_lr = min_delta, cooldown, min_lr
        self._sign = _sign(mode, monitor)

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin to count."""
        self.wait, self.cooldown_counter, self._best = 0, 0, math.inf

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare with the best figure."""
        figures = {} if logs is None else logs
        rate = _rate(self.model)
        figures["learning_rate"] = rate
        if self.monitor not in figures:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.wait = self.cooldown_counter - 1, 0
        figure = self._sign * figures[self.monitor]
        if figure < self._best - self.min_delta:
            self._best, self.wait = figure, 0
            return
        if self.cooldown_counter > 0:
            return
        self.wait += 1
        if self.wait >= self.patience and rate > self.min_lr:
            new = max(rate * self.factor, self.min_lr)
            self.model.optimizer.learning_rate = new
            if self.verbose:
                print(f"\nEpoch {epoch + 1}: {type(self).__name__} reducing learning rate to {new}.")
            self.cooldown_counter, self.wait = self.cooldown, 0


def _rate(model: Any) -> float:
    return float(model.optimizer.learning_rate.numpy())


class ModelCheckpoint(Callback):
    """Writes the model to a file after each epoch, or when a figure is better than before.

    The file is named by `filepath`, in which `{epoch:02d}` and the names of figures may stand. The whole model is
    written, as `model.save` does it, or only its numbers.
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        if save_freq != "epoch":
            raise NotImplementedError(
                explained("ModelCheckpoint: files between epochs are not in this stand-in", "save_freq='epoch'")
            )
        ending = ".weights.h5" if save_weights_only else ".keras"
        if not str(filepath).endswith((ending, ".h5")):
            raise ValueError(explained(f"The filepath provided must end in `{ending}`. Received: {filepath}"))
        self.save_weights_only = save_weights_only
        self.filepath, self.monitor, self.verbose = str(filepath), monitor, verbose
        self.save_best_only, self._sign = save_best_only, _sign(mode, monitor)
        self._best = math.inf if initial_value_threshold is None else self._sign * initial_value_threshold

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write the file, if it is to be written."""
        figures = logs or {}
        path = self.filepath.format(epoch=epoch + 1, **figures)
        if self.save_best_only:
            if self.monitor not in figures or self._sign * figures[self.monitor] >= self._best:
                return
            self._best = self._sign * figures[self.monitor]
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: saving model to {path}")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path)
        else:
            self.model.save(path)


class TerminateOnNaN(Callback):
    """Stops when the loss is not finite."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Look at the loss."""
        if not math.isfinite((logs or {}).get("loss", 0.0)):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class CSVLogger(Callback):
    """Writes the figures of each epoch as a row of a file."""

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        self.filename, self.separator, self.append = str(filename), separator, append
        self._names: list[str] = []

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin the file."""
        if not self.append:
            Path(self.filename).write_text("")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write a row; before the first, the names."""
        figures = logs or {}
        with open(self.filename, "a", newline="") as file:
            writer = csv.writer(file, delimiter=self.separator, lineterminator="\n")
            if not self._names:
                self._names = sorted(figures)
                if not file.tell():
                    writer.writerow(["epoch", *self._names])
            writer.writerow([epoch, *(figures.get(name, "NA") for name in self._names)])


class LambdaCallback(Callback):
    """Functions as callbacks: `LambdaCallback(on_epoch_end=lambda epoch, logs: ...)`."""

    def __init__(self, **functions: Callable[..., Any] | None) -> None:
        for name, function in functions.items():
            if not hasattr(Callback, name):
                raise ValueError(explained(f"there is no moment {name!r} in training"))
            if function is not None:
                setattr(self, name, function)


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch: `schedule(epoch, rate)`."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Set the rate."""
        try:
            rate = self.schedule(epoch, _rate(self.model))
        except TypeError:  # the older form, of the epoch alone
            rate = self.schedule(epoch)
        self.model.optimizer.learning_rate = rate
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {float(rate)}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Note the rate."""
        if logs is not None:
            logs["learning_rate"] = _rate(self.model)


__all__ = ["CSVLogger", "Callback", "CallbackList", "EarlyStopping", "History", "LambdaCallback"]
__all__ += ["LearningRateScheduler", "ModelCheckpoint", "ReduceLROnPlateau", "TerminateOnNaN"]
_FILES = "it writes files of other programs.\n  fix: tf.keras.callbacks.CSVLogger, or a Callback of your own"
__getattr__ = missing(__name__, reasons={"TensorBoard": _FILES, "RemoteMonitor": _FILES})
