"""`fit`: a training loop that shows progress, stops early, stores itself, and can be interrupted and taken up."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.errors import NumericsError, OperandError, ShapeError
from gradtape.extend import (
    Compiled,
    Variable,
    argument_error,
    leaves,
    map_structure,
    observe_training_step,
    plain,
    problem,
)
from gradtape.nn.calling import functional_call
from gradtape.nn.module import Module
from gradtape.nn.names import checked_generator, flat
from gradtape.nn.storage import check_place
from gradtape.optim import LBFGS, Adam, Optimiser
from gradtape.training.batches import Batches
from gradtape.training.history import History
from gradtape.training.progress import FitProgress
from gradtape.training.run import Position, generators_of, one_dtype, put_back, states_of, store, taken_up
from gradtape.training.stopping import EarlyStopping, as_stopping
from gradtape.transforms.gradients import value_and_grad

Function = Callable[..., Any]
Callback = Callable[[int, dict[str, float]], Any]


def fit(
    model: Any,
    data: Any,
    loss: Function,
    *,
    optimiser: Optimiser | None = None,
    epochs: int = 10,
    batch_size: int = 32,
    validation: Any = None,
    metrics: Mapping[str, Function] | None = None,
    rng: np.random.Generator | None = None,
    inputs: int = 1,
    drop_last: bool = False,
    jit: bool = True,
    early_stopping: EarlyStopping | int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    progress: bool | None = None,
    callbacks: Sequence[Callback] = (),
) -> History:
    """Train a module, or parameters, and return the history.

    A module is called with the first `inputs` arrays of a batch, and `loss(prediction, *rest)` is minimised; it is
    trained in place. Parameters are a nested structure of arrays, `loss(params, *batch)` is minimised, and the trained
    ones are `history.params`. `data` is a tuple of arrays with a row for each example, or an iterable of batches that
    can be gone through again. Floating point data take on the dtype of the parameters.

    `rng` shuffles the examples, and is what dropout draws from; without it examples are taken in order, and layers
    draw from the generators that they have. `metrics` are evaluated on the `validation` data
    after each epoch, with what the loss gets; so are `callbacks(epoch, numbers)`, which stop training by returning
    True. A step is compiled by `gt.jit` unless `jit=False`.

    With `checkpoint` the whole run is stored in that file after every epoch (and every `checkpoint_every` batches),
    and `resume=True` takes it up where it was. Ctrl-C ends training after the last complete step, and stores it.

    >>> import numpy as np, gradtape as gt
    >>> x = np.linspace(-1, 1, 50)
    >>> error = lambda params, x, y: ((params["slope"] * x + params["offset"] - y) ** 2).mean()
    >>> start = {"slope": np.array(0.0), "offset": np.array(0.0)}
    >>> history = gt.fit(start, (x, 3 * x - 1), error, optimiser=gt.optim.SGD(0.3), epochs=40, batch_size=10)
    >>> {name: round(float(value), 3) for name, value in history.params.items()}
    {'slope': 3.0, 'offset': -1.0}
    """
    fitting = Fitting(model, loss, optimiser, metrics, inputs, rng, jit)
    fitting.stopping = as_stopping(early_stopping)
    counts = {"epochs": epochs, "batch_size": batch_size, "inputs": inputs, "checkpoint_every": checkpoint_every}
    for name, value in counts.items():
        if value is None and name == "checkpoint_every":
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise argument_error(OperandError, f"fit: {name}={value!r}.", "an integer of at least 1")
    if rng is not None:
        checked_generator(rng, "fit")
    for name, wanted in (("resume", resume), ("checkpoint_every", checkpoint_every)):
        if wanted and checkpoint is None:
            raise argument_error(
                OperandError, f"fit: {name}={wanted} without a checkpoint.", 'checkpoint="run.safetensors"'
            )
    if checkpoint is not None:
        check_place(checkpoint)
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):
        raise argument_error(
            OperandError, "fit: callbacks are not a list of functions.", "[f] with f(epoch, numbers), numbers by name"
        )
    fitting.check_watched(validation, metrics)
    dtype = one_dtype(fitting.params)
    fitting.data = Batches("data", data, batch_size, drop_last, dtype)
    fitting.validation = None if validation is None else Batches("validation", validation, batch_size, False, dtype)
    fitting.epochs, fitting.callbacks = epochs, list(callbacks)
    fitting.path, fitting.every = checkpoint, checkpoint_every
    for batches in (fitting.data, fitting.validation):
        if batches is not None and batches.arrays is not None:
            fitting.check_loss(batches.what, len(batches.arrays))
    return fitting.run(resume, progress)


class Fitting:
    """One call of `fit`."""

    data: Batches
    validation: Batches | None
    stopping: EarlyStopping | None
    epochs: int
    callbacks: list[Callback]
    path: Any
    every: int | None

    def __init__(
        self,
        model: Any,
        loss: Function,
        optimiser: Any,
        metrics: Mapping[str, Function] | None,
        inputs: int,
        rng: np.random.Generator | None,
        jit: bool,
    ) -> None:
        self.model, self.loss, self.inputs, self.rng = model, loss, inputs, rng
        self.metrics = dict(metrics or {})
        self._checked: set[int] = set()
        self.optimiser = self._checked_optimiser(optimiser)
        if not callable(loss):
            raise argument_error(
                OperandError,
                f"fit: loss is a {type(loss).__name__}; a function is accepted.",
                "gt.nn.functional.mse_loss, say, or lambda prediction, target: ...",
            )
        if isinstance(model, Module):
            self.params, self.buffers = model.params, model.buffer_values
        else:
            self.params = map_structure(lambda x: np.array(plain(x)), model)
            self.buffers = {}
        if not leaves(self.params):
            raise argument_error(
                OperandError, "fit: the model has no parameters to train.", "a layer that has some, as Dense"
            )
        self.first = self.optimiser.init(self.params)
        self.step, self.assess = self._step(), self._assess()
        if jit:
            self.step, self.assess = Compiled(self.step), Compiled(self.assess)

    def _checked_optimiser(self, given: Any) -> Optimiser:
        if given is None:
            return Adam()
        if isinstance(given, Optimiser):
            return given
        what = f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"
        fix = "gt.optim.Adam(1e-3), made"
        if isinstance(given, LBFGS):
            what = "LBFGS, which asks for the loss of the same examples several times a step"
            fix = "opt.minimise_step(gt.jit(gt.value_and_grad(loss)), state, params) in a loop"
        raise argument_error(OperandError, f"fit: optimiser is {what}.", fix)

    def check_watched(self, validation: Any, metrics: Any) -> None:
        """Raise if something is to be watched that will not be measured."""
        if metrics and validation is None:
            raise argument_error(
                OperandError, "fit: metrics without validation data.", "validation=(x, y), or callbacks of your own"
            )
        known = ["loss"] + ([] if validation is None else ["validation_loss", *(metrics or {})])
        if self.stopping is not None and self.stopping.monitor not in known:
            raise argument_error(
                OperandError,
                f"fit: early stopping watches {self.stopping.monitor!r}, and there is {', '.join(map(repr, known))}.",
                "validation=(x, y), or gt.EarlyStopping(monitor=...) of one of those",
            )

    # -- the functions that are compiled

    def _predicted(self) -> Function:
        """`(params, buffers, batch, training) -> (what the loss and the metrics get, buffers)`"""
        model, inputs, generator = self.model, self.inputs, self.rng
        if not isinstance(model, Module):
            return lambda params, buffers, batch, training: ((params, *batch), buffers)

        def predicted(params: Any, buffers: Any, batch: Any, training: bool) -> Any:
            rng = generator if training else None
            output, buffers = functional_call(
                model, params, *batch[:inputs], buffers=buffers, rng=rng, training=training
            )
            return (output, *batch[inputs:]), buffers

        return predicted

    def _step(self) -> Function:
        predicted, loss, optimiser = self._predicted(), self.loss, self.optimiser

        def objective(params: Any, buffers: Any, batch: Any) -> Any:
            given, buffers = predicted(params, buffers, batch, True)
            return loss(*given), buffers

        objective.__name__ = "the loss"

        def step(params: Any, buffers: Any, state: Any, batch: Any) -> Any:
            (value, buffers), grads = value_and_grad(objective, has_aux=True)(params, buffers, batch)
            params, state = optimiser.update(grads, state, params)
            return value, params, buffers, state

        return step

    def _assess(self) -> Function:
        predicted, functions = self._predicted(), [self.loss, *self.metrics.values()]

        def assess(params: Any, buffers: Any, batch: Any) -> Any:
            given, _ = predicted(params, buffers, batch, False)
            return [function(*given) for function in functions]

        return assess

    # -- the loop

    def _facts(self) -> dict[str, Any]:
        """What has to be the same where the run is taken up."""
        return {
            "optimiser": self.optimiser.name,
            "examples": self.data.examples,
            "batch_size": self.data.batch_size,
            "shuffled": self.rng is not None,
        }

    def run(self, resume: bool, progress: bool | None) -> History:
        """Go on until the last epoch, from the file if `resume`."""
        generators = generators_of(self.model, self.rng)
        self.facts = self._facts()
        self.at = Position(self.params, self.buffers, self.first, states_of(generators), records={})
        taken = self._taken_up(generators) if resume else None
        if taken is not None:
            self.at = taken
            put_back(generators, self.at.generators)
            if not callable(self.optimiser.learning_rate):
                self.optimiser.learning_rate = float(self.at.state["learning_rate"])
        self.generators = generators
        each = self.data.count()
        done = 0 if each is None else self.at.epoch * each + self.at.batch
        self.progress = FitProgress(progress, self.epochs, None if each is None else self.epochs * each, done)
        stopped = "finished"
        try:
            while self.at.epoch < self.epochs and not self.at.is_over:
                self._epoch()
            stopped = "early" if self.at.is_over else stopped
        except KeyboardInterrupt:
            stopped = "interrupted"
            put_back(generators, self.at.generators)
            self._store()
        except BaseException:
            put_back(generators, self.at.generators)
            self._write_back(self.at.params, self.at.buffers)
            raise
        finally:
            self.progress.close()
        return self._ended(stopped)

    def _taken_up(self, generators: Any) -> Position | None:
        """Where the run stands that is stored in the file; None if there is no file."""
        if self.path is None or not os.path.exists(self.path):
            return None
        return taken_up(self.path, self.at, self.facts, generators)

    def _store(self) -> None:
        """Store where the run stands, if there is a file for it."""
        if self.path is not None:
            store(self.path, self.at, self.facts)

    def _epoch(self) -> None:
        at = self.at
        if at.batch == 0 and at.order is None and self.rng is not None and self.data.examples is not None:
            order = self.rng.permutation(self.data.examples)
            self.at = at = at.moved(order=order, generators=states_of(self.generators))
        for batch in self.data.each(at.order, at.batch):
            self._batch(batch)
        if not self.at.seen:
            raise argument_error(
                OperandError, "fit: an epoch had no batches.", "data with at least one batch, each time"
            )
        self._end_of_epoch()

    def _after(self, batch: Any) -> tuple[float, int, Any, Any, Any]:
        """The loss of a batch, its number of examples, and parameters, buffers and state after its step."""
        at = self.at
        self.check_loss("data", len(batch))
        try:
            value, params, buffers, state = self.step(at.params, at.buffers, at.state, batch)
        except NumericsError as error:
            raise (self._spoilt(batch) or error) from None
        number, size = float(plain(value)), len(batch[0])
        if not math.isfinite(number):
            raise self._spoilt(batch) or self._not_finite(
                f"the loss is {number} in",
                "a smaller learning rate if it grew; gt.check_numerics() around the loss finds the line",
            )
        return number, size, params, buffers, state

    def _batch(self, batch: Any) -> None:
        at = self.at
        number, size, params, buffers, state = self._after(batch)
        before = at.params, at.buffers, at.state
        params, buffers, state = map_structure(_as_before, before, (params, buffers, state))
        self.at = at.moved(
            params=params,
            buffers=buffers,
            state=state,
            generators=states_of(self.generators),
            batch=at.batch + 1,
            total=at.total + number * size,
            seen=at.seen + size,
        )
        observe_training_step(number, at.params, params)
        self.progress.batch(at.epoch, number)
        if self.every is not None and self.at.batch % self.every == 0:
            self._store()

    def _spoilt(self, batch: Any) -> NumericsError | None:
        """The error for a batch that is not finite to begin with; None if it is."""
        for place, x in enumerate(map(np.asarray, map(plain, batch))):
            bad = ~np.isfinite(x) if x.dtype.kind in "fc" else np.zeros(x.shape, bool)
            count = np.count_nonzero(bad.reshape(len(x), -1).any(axis=1))
            if count:
                return self._not_finite(
                    f"{count} of {len(x)} examples have NaN or infinity in array {place} of",
                    "np.isfinite(x) finds them: leave these examples out, or fill in what is missing",
                )
        return None

    def _not_finite(self, what: str, fix: str) -> NumericsError:
        title = f"fit: {what} batch {self.at.batch} of epoch {self.at.epoch}"
        return NumericsError(
            problem("GT401", title, fixes=fix, consequence="the parameters are those before this batch")
        )

    def check_loss(self, what: str, arrays: int) -> None:
        """Raise if the loss cannot be called with what comes of a batch of so many arrays."""
        if arrays in self._checked:
            return
        count, given = 1 + arrays, f"the parameters and {arrays} arrays"
        if isinstance(self.model, Module):
            count, given = 1 + arrays - self.inputs, f"the prediction and {arrays - self.inputs} arrays"
        try:
            inspect.signature(self.loss).bind(*range(count))
        except TypeError as error:
            raise argument_error(
                OperandError,
                f"fit: the loss is called with {given} of a batch of {what}, and {error}.",
                f"loss(prediction, target) for a module and {what}=(x, y); loss(params, *batch) for parameters",
            ) from None
        except ValueError:  # some functions in C do not say
            return
        self._checked.add(arrays)

    def _end_of_epoch(self) -> None:
        at = self.at
        numbers = {"loss": at.total / at.seen, **self._assessed()}
        records = {name: (*(at.records or {}).get(name, ()), value) for name, value in numbers.items()}
        over, best = False, {}
        if self.stopping is not None:
            value = numbers[self.stopping.monitor]
            if at.best_epoch is None or self.stopping.is_better(value, at.best_value):
                kept = (at.params, at.buffers) if self.stopping.restore_best else None
                best = {"best_value": value, "best_epoch": at.epoch, "waited": 0, "best": kept}
            else:
                best = {"waited": at.waited + 1}
                over = at.waited + 1 >= self.stopping.patience
        self._write_back(at.params, at.buffers)
        for callback in self.callbacks:
            over = callback(at.epoch, numbers) is True or over
        state, rate = at.state, self.optimiser.learning_rate
        if not callable(rate):
            state = {**state, "learning_rate": np.float64(rate)}
        self.at = at.moved(
            state=state,
            generators=states_of(self.generators),
            epoch=at.epoch + 1,
            batch=0,
            order=None,
            total=0.0,
            seen=0,
            records=records,
            is_over=over,
            **best,
        )
        self.progress.epoch(at.epoch, numbers)
        self._store()

    def _assessed(self) -> dict[str, float]:
        """The loss and the metrics of the validation data."""
        if self.validation is None:
            return {}
        names = ["validation_loss", *self.metrics]
        totals, seen = [0.0] * len(names), 0
        for batch in self.validation.each(None):
            size = len(batch[0])
            self.check_loss("validation", len(batch))
            values = self.assess(self.at.params, self.at.buffers, batch)
            for name, value in zip(names, values, strict=True):
                if np.size(plain(value)) != 1:
                    raise argument_error(
                        ShapeError, f"fit: {name} has shape {np.shape(plain(value))}; one number is wanted.", ".mean()"
                    )
            totals = [total + float(plain(value)) * size for total, value in zip(totals, values, strict=True)]
            seen += size
        return {name: total / max(seen, 1) for name, total in zip(names, totals, strict=True)}

    # -- the end

    def _write_back(self, params: Any, buffers: Any) -> None:
        if not isinstance(self.model, Module):
            for variable, value in zip(leaves(self.model), leaves(params), strict=True):
                if isinstance(variable, Variable):
                    variable.assign(value)
            return
        self.model.load_state_dict({**flat(params), **flat(buffers)})

    def _ended(self, stopped: str) -> History:
        at = self.at
        params, buffers = at.params, at.buffers
        if stopped != "interrupted" and at.best is not None:
            params, buffers = at.best
        self._write_back(params, buffers)
        records = {name: list(values) for name, values in (at.records or {}).items()}
        return History(records, params, stopped, at.best_epoch)


def _as_before(old: Any, new: Any) -> Any:
    """`new` as an array if `old` was one: arrays without axes come back as scalars, which would be traced again."""
    return np.asarray(plain(new)) if isinstance(old, np.ndarray) else plain(new)
