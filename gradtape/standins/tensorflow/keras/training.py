"""compile, fit, evaluate, predict."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.standins.tensorflow import nest
from gradtape.standins.tensorflow.arrays import concat, convert_to_tensor
from gradtape.standins.tensorflow.data import Dataset
from gradtape.standins.tensorflow.errors import explained
from gradtape.standins.tensorflow.keras import losses, metrics, optimizers
from gradtape.standins.tensorflow.keras.callbacks import Callback, History
from gradtape.standins.tensorflow.keras.metrics import Mean
from gradtape.standins.tensorflow.random import generator_for
from gradtape.standins.tensorflow.tape import GradientTape


class Training:
    """What a model that was compiled can do."""

    stop_training = False
    optimizer: Any = None
    loss: Any = None

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile: Any = "auto",
        auto_scale_loss: bool = True,
    ) -> None:
        """Choose the optimiser, the loss and the metrics."""
        self.optimizer = optimizers.get(optimizer)
        self.loss = loss
        self._loss = None if loss is None else losses.as_loss(loss)
        self._wanted = list(metrics or [])
        self._metrics: list[Any] | None = None
        self._loss_mean = Mean(name="loss")

    @property
    def metrics(self) -> list[Any]:
        """The mean of the loss, and the metrics that were asked for."""
        if "_loss_mean" not in self.__dict__:
            return []
        compiled = [CompileMetrics(self)] if self._wanted else []
        own = [part for part in vars(self).values() if isinstance(part, metrics.Metric) and part is not self._loss_mean]
        return [self._loss_mean, *compiled, *own]

    @property
    def metrics_names(self) -> list[str]:
        """The names of the metrics; those that `compile` was given go by one name."""
        return [metric.name for metric in self.metrics]

    def _prepared(self, y_true: Any, y_pred: Any) -> None:
        if self._metrics is None:
            self._metrics = [metrics.as_metric(one, y_true, y_pred) for one in self._wanted]

    # -- one batch

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:
        """The loss of a batch, with the penalties of regularisers."""
        total = None
        if self._loss is not None and y is not None:
            total = self._loss(y, y_pred, sample_weight)
        for penalty in self.losses:  # type: ignore[attr-defined]
            total = penalty if total is None else total + penalty
        if total is None:
            raise ValueError(explained("no loss to compute", "compile(loss=...), or add_loss inside of a layer"))
        return total

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """The figures so far, with this batch."""
        if y is not None:
            CompileMetrics(self).update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """The figures so far, by name."""
        return _flat({metric.name: metric.result() for metric in self.metrics})

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step of training; the figures so far are returned."""
        x, y, weight = _unpacked(data)
        with GradientTape() as tape:
            y_pred = self(x, training=True)  # type: ignore[operator]
            loss = self.compute_loss(x, y, y_pred, weight)
        variables = self.trainable_variables  # type: ignore[attr-defined]
        if variables:
            self.optimizer.apply(tape.gradient(loss, variables), variables)
        self._loss_mean.update_state(loss, float(nest.flatten(x)[0].shape[0]))
        return self.compute_metrics(x, y, y_pred, weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """One step of evaluation; the figures so far are returned."""
        x, y, weight = _unpacked(data)
        y_pred = self(x, training=False)  # type: ignore[operator]
        loss = self.compute_loss(x, y, y_pred, weight, training=False)
        self._loss_mean.update_state(loss, float(nest.flatten(x)[0].shape[0]))
        return self.compute_metrics(x, y, y_pred, weight)

    def predict_step(self, data: Any) -> Any:
        """The predictions for a batch."""
        return self(_unpacked(data)[0], training=False)  # type: ignore[operator]

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """One step of training with arrays."""
        self._check_compiled("train_on_batch")
        self.reset_metrics()
        return _figures(self.train_step(_tensors((x, y, sample_weight))), return_dict)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """One step of evaluation with arrays."""
        self._check_compiled("test_on_batch")
        self.reset_metrics()
        return _figures(self.test_step(_tensors((x, y, sample_weight))), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """The predictions for a batch, as arrays."""
        return nest.map_structure(lambda t: t.numpy(), self.predict_step((convert_to_tensor(x),)))

    # -- all batches

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: int = 1,
    ) -> History:
        """Train; the figures of each epoch are in the `history` of what is returned."""
        self._check_compiled("fit")
        if class_weight is not None:
            raise NotImplementedError(explained("fit: class_weight is not in this stand-in", "sample_weight"))
        if validation_split:
            cut = int(len(nest.flatten(x)[0]) * (1 - validation_split))
            validation_data = nest.map_structure(lambda a: a[cut:], (x, y))
            x, y = nest.map_structure(lambda a: a[:cut], (x, y))
        history, self.stop_training = History(), False
        told: list[Callback] = [history, *(callbacks or [])]
        for callback in told:
            callback.set_model(self)
            callback.on_train_begin()
        for epoch in range(initial_epoch, epochs):
            started, count = time.perf_counter(), 0
            self.reset_metrics()
            for callback in told:
                callback.on_epoch_begin(epoch)
            logs: dict[str, float] = {}
            for batch in _batches(x, y, sample_weight, batch_size, shuffle, steps_per_epoch):
                for callback in told:
                    callback.on_train_batch_begin(count)
                logs = _figures(self.train_step(batch), True)
                for callback in told:
                    callback.on_train_batch_end(count, logs)
                count += 1
            if validation_data is not None and (epoch + 1) % validation_freq == 0:
                checked = self._validated(validation_data, validation_batch_size or batch_size, validation_steps)
                logs.update({f"val_{name}": value for name, value in checked.items()})
            _tell(verbose, epoch, epochs, count, time.perf_counter() - started, logs)
            for callback in told:
                callback.on_epoch_end(epoch, logs)
            if self.stop_training:
                break
        for callback in told:
            callback.on_train_end()
        self.history = history
        return history

    def _validated(self, data: Any, batch_size: int | None, steps: int | None) -> dict[str, float]:
        x, y, weight = (data, None, None) if isinstance(data, Dataset) else _unpacked(tuple(data))
        found: dict[str, float] = self.evaluate(x, y, batch_size, 0, weight, steps, return_dict=True)
        return found

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """The loss and the metrics, without training."""
        self._check_compiled("evaluate")
        self.reset_metrics()
        started, count, found = time.perf_counter(), 0, {}
        for batch in _batches(x, y, sample_weight, batch_size, False, steps):
            found = self.test_step(batch)
            count += 1
        figures = _figures(found, True)
        _tell(verbose, None, None, count, time.perf_counter() - started, figures)
        return _figures(found, return_dict)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """The predictions, as arrays."""
        parts = [self.predict_step(batch) for batch in _batches(x, None, None, batch_size, False, steps)]
        return nest.map_structure(lambda *rows: concat(rows, 0).numpy(), *parts)

    def reset_metrics(self) -> None:
        """Begin all figures anew."""
        for metric in self.metrics:
            metric.reset_state()

    def _check_compiled(self, what: str) -> None:
        if self.optimizer is None:
            raise ValueError(
                explained(f"You must call `compile()` before calling `{what}()`", "model.compile(optimizer, loss)")
            )


class CompileMetrics:
    """The metrics that `compile` was given, as one: Keras shows them so to a `train_step` of one's own."""

    name = "compile_metrics"

    def __init__(self, model: Any) -> None:
        self._model = model

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch."""
        self._model._prepared(y_true, y_pred)
        for metric in self._model._metrics:
            metric.update_state(y_true, y_pred)

    def result(self) -> dict[str, Any]:
        """The figures so far, by name."""
        return {metric.name: metric.result() for metric in self._model._metrics or []}

    def reset_state(self) -> None:
        """Begin all figures anew."""
        for metric in self._model._metrics or []:
            metric.reset_state()


def _flat(figures: dict[str, Any]) -> dict[str, Any]:
    """Figures by name, those inside other figures too."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        found.update(value if isinstance(value, dict) else {name: value})
    return found


def _unpacked(data: Any) -> tuple[Any, Any, Any]:
    parts = data if isinstance(data, tuple) else (data,)
    x, y, weight = (*parts, None, None)[:3]
    return x, y, weight


def _tensors(structure: Any) -> Any:
    return nest.map_structure(lambda a: None if a is None else convert_to_tensor(a), structure)


def _batches(
    x: Any, y: Any, weight: Any, batch_size: int | None, shuffle: bool, steps: int | None
) -> Iterator[tuple[Any, ...]]:
    """Batches of tensors: from arrays, in random order if wanted; or from what gives batches itself."""
    if y is None and (isinstance(x, Dataset) or (hasattr(x, "__iter__") and not hasattr(x, "shape") and _is_stream(x))):
        for number, batch in enumerate(x):
            if steps is not None and number >= steps:
                return
            yield _tensors(batch) if isinstance(batch, tuple) else (_tensors(batch),)
        return
    given = (x,) if y is None else (x, y) if weight is None else (x, y, weight)
    arrays = nest.map_structure(lambda a: np.asarray(a) if not hasattr(a, "_value") else a.numpy(), given)
    lengths = {len(array) for array in nest.flatten(arrays)}
    if len(lengths) != 1:
        raise ValueError(explained(f"Data cardinality is ambiguous: the arrays have {sorted(lengths)} examples"))
    (count,) = lengths
    order = generator_for().permutation(count) if shuffle else np.arange(count)
    size = batch_size or 32
    for number, start in enumerate(range(0, count, size)):
        if steps is not None and number >= steps:
            return
        chosen = order[start : start + size]
        yield nest.map_structure(lambda array, chosen=chosen: convert_to_tensor(array[chosen]), arrays)


def _is_stream(x: Any) -> bool:
    return not isinstance(x, list | tuple | dict)


def _figures(found: dict[str, Any], return_dict: bool) -> Any:
    """Figures as numbers: by name, in the order that Keras has them, or as a list that begins with the loss."""
    ordered = dict(sorted(found.items())) if return_dict else found
    numbers = {name: float(np.asarray(value)) for name, value in _flat(ordered).items()}
    if return_dict:
        return numbers
    values = list(numbers.values())
    return values[0] if len(values) == 1 else values


def _tell(verbose: Any, epoch: Any, epochs: Any, count: int, seconds: float, figures: dict[str, float]) -> None:
    if verbose == 0:
        return
    if epoch is not None:
        print(f"Epoch {epoch + 1}/{epochs}")
    text = " - ".join(f"{name}: {value:.4f}" for name, value in figures.items())
    print(f"{count}/{count} - {seconds:.0f}s - {1000 * seconds / max(count, 1):.0f}ms/step - {text}")
