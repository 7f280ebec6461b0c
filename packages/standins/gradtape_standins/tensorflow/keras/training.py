"""compile, fit, evaluate, predict."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.arrays import concat, convert_to_tensor
from gradtape_standins.tensorflow.data import Dataset
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.function import Function
from gradtape_standins.tensorflow.keras import metrics, optimizers
from gradtape_standins.tensorflow.keras.callbacks import CallbackList, History
from gradtape_standins.tensorflow.keras.compile_utils import CompileLoss, CompileMetrics, class_weights_of
from gradtape_standins.tensorflow.keras.default_dtype import floatx
from gradtape_standins.tensorflow.keras.metrics import Mean
from gradtape_standins.tensorflow.random import generator_for
from gradtape_standins.tensorflow.tape import GradientTape


class Progress(SimpleNamespace):
    """What `fit` keeps of its own: no step reads it, so that a compiled one need not compare it."""

    is_opaque_to_jit = True


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
        vars(self)["_compile_arguments"] = {
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
            "run_eagerly": run_eagerly,
        }
        self._loss = None if loss is None else CompileLoss(loss, loss_weights)
        self._compiled = CompileMetrics(metrics, weighted_metrics)
        self.run_eagerly, self.jit_compile = run_eagerly, jit_compile is True or None
        # `gt.jit` does not look into a namespace: what changes in there from step to step is not what a step reads
        self._progress = Progress(functions={}, history=None)
        self._loss_mean = Mean(name="loss")

    @property
    def metrics(self) -> list[Any]:
        """The mean of the loss, and the metrics that were asked for."""
        if "_loss_mean" not in self.__dict__:
            return []
        compiled = [self._compiled] if self._compiled else []
        parts = [] if self._loss is None else self._loss.means
        own = [part for part in vars(self).values() if isinstance(part, metrics.Metric) and part is not self._loss_mean]
        return [self._loss_mean, *parts, *compiled, *own]

    @property
    def metrics_names(self) -> list[str]:
        """The names of the metrics; those that `compile` was given go by one name."""
        return [metric.name for metric in self.metrics]

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs, where they have some."""
        return []

    def _function(self, name: str) -> Any:
        """A step of this model as a `tf.function`, unless `compile(run_eagerly=True)` was asked for."""
        if self.__dict__.get("run_eagerly", True):
            return getattr(self, name)
        functions = self._progress.functions
        if name not in functions:
            method = getattr(self, name)
            functions[name] = method if isinstance(method, Function) else Function(method, None, self.jit_compile)
        return functions[name]

    @property
    def history(self) -> Any:
        """The figures of the last training."""
        return None if "_progress" not in self.__dict__ else self._progress.history

    # -- one batch

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:
        """The loss of a batch, with the penalties of regularisers."""
        total = None
        if self._loss is not None and y is not None:
            total = self._loss(y, y_pred, sample_weight, self.output_names, float(nest.flatten(y_pred)[0].shape[0]))
        for penalty in self.losses:  # type: ignore[attr-defined]
            total = penalty if total is None else total + penalty
        if total is None:
            raise ValueError(explained("no loss to compute", "compile(loss=...), or add_loss inside of a layer"))
        return total

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """The figures so far, with this batch."""
        if y is not None:
            self._compiled.update_state(y, y_pred, sample_weight, self.output_names)
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
        if validation_split:
            cut = int(len(nest.flatten(x)[0]) * (1 - validation_split))
            validation_data = _rows((x, y, sample_weight), slice(cut, None))
            x, y, sample_weight = _rows((x, y, sample_weight), slice(None, cut))
        self.stop_training, history = False, History()
        self._progress.history = history
        steps = _steps_in(x, batch_size, steps_per_epoch)
        told = CallbackList(callbacks, self, verbose=verbose, epochs=epochs, steps=steps)
        told.callbacks.append(history)
        history.set_model(self)
        history.set_params({"verbose": verbose, "epochs": epochs, "steps": steps})
        told.on_train_begin()
        figures: dict[str, float] = {}
        stream = iter(x) if steps_per_epoch is not None and y is None and not hasattr(x, "shape") else None
        for epoch in range(initial_epoch, epochs):
            started, count = time.perf_counter(), 0
            self.reset_metrics()
            told.on_epoch_begin(epoch)
            logs: dict[str, float] = {}
            source = x if stream is None else _again(x, stream)
            for batch in _batches(source, y, sample_weight, batch_size, shuffle, steps_per_epoch):
                told.on_train_batch_begin(count)
                if class_weight is not None:
                    batch = (*batch[:2], convert_to_tensor(class_weights_of(batch[1], class_weight)))
                logs = _figures(self._function("train_step")(batch), True)
                told.on_train_batch_end(count, logs)
                count += 1
                if self.stop_training:
                    break
            figures = dict(logs)
            if validation_data is not None and (epoch + 1) % validation_freq == 0:
                checked = self._validated(validation_data, validation_batch_size or batch_size, validation_steps, told)
                figures.update({f"val_{name}": value for name, value in checked.items()})
            _tell(verbose, epoch, epochs, count, time.perf_counter() - started, figures)
            told.on_epoch_end(epoch, figures)
            if self.stop_training:
                break
        told.on_train_end(figures)
        return history

    def _validated(self, data: Any, batch_size: int | None, steps: int | None, told: Any) -> dict[str, float]:
        x, y, weight = _unpacked(tuple(data)) if isinstance(data, list | tuple) else (data, None, None)
        found: dict[str, float] = self.evaluate(x, y, batch_size, 0, weight, steps, told, return_dict=True)
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
        told = self._told(callbacks, _steps_in(x, batch_size, steps), verbose)
        self.reset_metrics()
        told.on_test_begin()
        started, count, found = time.perf_counter(), 0, {}
        for batch in _batches(x, y, sample_weight, batch_size, False, steps):
            told.on_test_batch_begin(count)
            found = self._function("test_step")(batch)
            told.on_test_batch_end(count, _figures(found, True))
            count += 1
        figures = _figures(found, True)
        told.on_test_end(figures)
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
        told = self._told(callbacks, _steps_in(x, batch_size, steps), verbose)
        told.on_predict_begin()
        parts: list[Any] = []
        for batch in _batches(x, None, None, batch_size, False, steps):
            told.on_predict_batch_begin(len(parts))
            parts.append(self._function("predict_step")(batch))
            told.on_predict_batch_end(len(parts) - 1, {"outputs": parts[-1]})
        told.on_predict_end()
        return nest.map_structure(lambda *rows: concat(rows, 0).numpy(), *parts)

    def _told(self, callbacks: Any, steps: int | None, verbose: Any) -> CallbackList:
        """Callbacks for a run that is no training; those of a training under way are told as they are."""
        if isinstance(callbacks, CallbackList):
            return callbacks
        return CallbackList(callbacks, self, verbose=verbose, epochs=1, steps=steps)

    def reset_metrics(self) -> None:
        """Begin all figures anew."""
        for metric in self.metrics:
            metric.reset_state()

    def _check_compiled(self, what: str) -> None:
        if self.optimizer is None:
            raise ValueError(
                explained(f"You must call `compile()` before calling `{what}()`", "model.compile(optimizer, loss)")
            )


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


def _is_stream(x: Any) -> bool:
    """Whether `x` gives batches itself, rather than being arrays."""
    return isinstance(x, Dataset) or (
        not hasattr(x, "shape")
        and not isinstance(x, list | tuple | dict)
        and (hasattr(x, "__iter__") or hasattr(x, "__getitem__"))
    )


def _steps_in(x: Any, batch_size: int | None, steps: int | None) -> int | None:
    """How many batches an epoch has; None if that is not known."""
    if steps is not None:
        return steps
    if not _is_stream(x):
        return -(-len(nest.flatten(x)[0]) // (batch_size or 32))
    if isinstance(x, Dataset):
        return None if x._count is None or x._count < 0 else x._count
    return len(x) if hasattr(x, "__len__") else None


def _rows(structure: Any, chosen: slice) -> Any:
    return nest.map_structure(lambda a: None if a is None else a[chosen], structure)


def _again(source: Any, stream: Iterator[Any]) -> Iterator[Any]:
    """What is left of `stream`, and from its end on `source` from its beginning."""
    yield from stream
    while hasattr(source, "__len__") or isinstance(source, Dataset):
        yield from source


def _stream_of(x: Any) -> Iterator[Any]:
    """The batches that `x` gives."""
    if hasattr(x, "__iter__"):
        yield from x
    else:  # a PyDataset: as many batches as it has a length
        for place in range(len(x)):
            yield x[place]


def _array(x: Any) -> Any:
    """Numbers as an array; those of double precision in Keras' own, which is single."""
    array = x.numpy() if hasattr(x, "_value") else np.asarray(x)
    return array.astype(floatx()) if array.dtype == np.float64 else array


def _batches(x: Any, y: Any, weight: Any, batch_size: int | None, shuffle: bool, steps: int | None) -> Iterator[Any]:
    """Batches of tensors: from arrays, in random order if wanted; or from what gives batches itself."""
    if y is None and _is_stream(x):
        for number, batch in enumerate(_stream_of(x)):
            yield _tensors(batch)
            if steps is not None and number + 1 >= steps:
                return
        return
    given: Any = (x, y) if weight is None else (x, y, weight)
    if y is None:
        given = (x,) if isinstance(x, tuple) else x  # a step of one's own is given the inputs alone
    arrays = nest.map_structure(_array, given)
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
