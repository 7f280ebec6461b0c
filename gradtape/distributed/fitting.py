"""`fit`: data-parallel training over chunks of Dask arrays, with the loop, the files and the callbacks of `gt.fit`.

A step takes some chunks, in an order that the seed and the epoch decide. Their gradients are computed where they are,
and added up in a fixed tree, and the optimiser moves the parameters in this process. So the bits of a run depend on the
chunks, the seed and the options only: not on the number of workers, nor on which of them are lost, nor on where the run
was interrupted and taken up.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.distributed.check import ROWS
from gradtape.distributed.engine_choice import choose_engine
from gradtape.distributed.engines import Broadcast
from gradtape.distributed.reduction import Part, hand_out
from gradtape.distributed.rows import Blocks, Rows, is_dask
from gradtape.distributed.shipping import Shipped, one_thread
from gradtape.distributed.transforms import REDUCTIONS, Plan, RowFunction
from gradtape.errors import OperandError
from gradtape.extend import Compiled, argument_error, function_name, leaves, plain, problem, rebuild, report
from gradtape.nn.calling import functional_call
from gradtape.nn.module import Module
from gradtape.nn.norms import BatchNorm
from gradtape.nn.storage import check_place
from gradtape.optim import Optimiser
from gradtape.training.batches import Batches
from gradtape.training.fitting import Callback, Fitting
from gradtape.training.history import History
from gradtape.training.run import one_dtype
from gradtape.training.stopping import EarlyStopping, as_stopping
from gradtape.transforms.gradients import value_and_grad

Function = Callable[..., Any]
TITLE = "gt.distributed.fit"
VALIDATION_ROWS = 1024
"""How many rows of validation data in memory are evaluated at a time."""


def fit(
    model: Any,
    data: Any,
    loss: Function,
    *,
    batch_chunks: int = 8,
    epochs: int = 10,
    optimiser: Optimiser | None = None,
    seed: int = 0,
    shuffle: bool = True,
    validation: Any = None,
    metrics: Mapping[str, Function] | None = None,
    inputs: int = 1,
    reduction: str | None = None,
    check: bool = True,
    hold: bool | None = None,
    on: Any = None,
    jit: bool = True,
    early_stopping: EarlyStopping | int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    progress: bool | None = None,
    callbacks: Sequence[Callback] = (),
) -> History:
    """Train a module, or parameters, on rows of Dask arrays, and return the history; see `gt.fit`.

    A step is the gradient of `batch_chunks` chunks, weighted by their rows, as if they were one batch; their order
    depends on `seed` and the epoch, and so do the draws of dropout. Steps are computed on threads of this process, or
    on the workers of the current client. The parameters have the same bits on any number of workers, also if some are
    lost, and if this process is killed and the run is taken up from its `checkpoint` by `resume=True`, which is stored
    after each epoch and every `checkpoint_every` steps.

    - `data`: a tuple of Dask arrays, (X, y). `validation`: arrays in memory, or Dask arrays.
    - `loss`: a mean or a sum over rows; `reduction`, `check`, `hold` and `on` are those of `value_and_grad` here.
    - `BatchNorm` normalises by the statistics of a chunk, not of a step; the running statistics are their mean.
    - The other options are those of `gt.fit`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape import distributed as gd
    >>> import dask.array as da
    >>> x = np.linspace(-1, 1, 60)
    >>> rows = da.from_array(x, chunks=7), da.from_array(3 * x - 1, chunks=7)
    >>> error = lambda params, x, y: ((params["slope"] * x + params["offset"] - y) ** 2).mean()
    >>> start = {"slope": np.array(0.0), "offset": np.array(0.0)}
    >>> history = gd.fit(start, rows, error, optimiser=gt.optim.SGD(0.3), epochs=30, batch_chunks=3)
    >>> {name: round(float(value), 3) for name, value in history.params.items()}
    {'slope': 3.0, 'offset': -1.0}
    """
    counts = {
        **{"epochs": epochs, "batch_chunks": batch_chunks, "inputs": inputs},
        **({} if checkpoint_every is None else {"checkpoint_every": checkpoint_every}),
    }
    for name, value in counts.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise argument_error(OperandError, f"{TITLE}: {name}={value!r}.", "an integer of at least 1")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise argument_error(OperandError, f"{TITLE}: seed={seed!r}.", "an integer of at least 0")
    for name, wanted in (("resume", resume), ("checkpoint_every", checkpoint_every)):
        if wanted and checkpoint is None:
            raise argument_error(
                OperandError, f"{TITLE}: {name}={wanted} without a checkpoint.", 'checkpoint="run.safetensors"'
            )
    if checkpoint is not None:
        check_place(checkpoint)
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):
        raise argument_error(
            OperandError, f"{TITLE}: callbacks are not a list of functions.", "[f] with f(epoch, numbers)"
        )
    if not isinstance(data, tuple) or not data or not all(is_dask(x) for x in data):
        given = f"a tuple of {', '.join(type(x).__name__ for x in data)}" if isinstance(data, tuple) else type(data)
        raise argument_error(
            OperandError,
            f"{TITLE}: data is {given}; a tuple of Dask arrays is accepted.",
            "(X, y) with dask.array.from_zarr, dask.array.from_array(x, chunks=(1_000, -1)); gt.fit for arrays in "
            "memory",
        )
    fitting = ChunkFitting(model, loss, optimiser, metrics, inputs, None, jit)
    fitting.stopping = as_stopping(early_stopping)
    fitting.check_watched(validation, metrics)
    fitting.epochs, fitting.callbacks = epochs, list(callbacks)
    fitting.path, fitting.every = checkpoint, checkpoint_every
    fitting.check_loss("data", len(data))
    options = {"reduction": reduction, "check": check, "hold": hold, "on": on, "jit": jit}
    fitting.prepare(data, validation, options, batch_chunks, seed, shuffle)
    return fitting.run(resume, progress)


class ChunkLoss:
    """The loss of a chunk, of a module or of parameters; it can be sent to other processes."""

    def __init__(self, model: Any, loss: Function, inputs: int, dtype: Any) -> None:
        self.model = model if isinstance(model, Module) else None
        self.loss, self.inputs, self.dtype = loss, inputs, dtype
        self.__wrapped__, self.__name__ = loss, function_name(loss)

    def given(self, params: Any, buffers: Any, batch: Any, rng: Any, training: bool) -> tuple[tuple[Any, ...], Any]:
        """What the loss and the metrics get, and the buffers afterwards."""
        batch = [self._cast(x) for x in batch]
        if self.model is None:
            return (params, *batch), buffers
        output, buffers = functional_call(
            self.model, params, *batch[: self.inputs], buffers=buffers, rng=rng, training=training
        )
        return (output, *batch[self.inputs :]), buffers

    def _cast(self, x: Any) -> Any:
        return x.astype(self.dtype) if self.dtype is not None and x.dtype.kind == "f" and x.dtype != self.dtype else x

    def __call__(self, params: Any, *batch: Any) -> Any:
        """The loss without dropout, and with the running statistics: what the check of the reduction looks at."""
        buffers = {} if self.model is None else self.model.buffer_values
        given, _ = self.given(params, buffers, batch, None, False)
        return self.loss(*given)


class StepProgram:
    """What a chunk contributes to a step: its loss and gradient, and the buffers of a module after it.

    A thread has its own generator, which the compiled function draws from: others would draw in between.
    """

    def __init__(self, loss: ChunkLoss, draws: bool) -> None:
        self.loss, self.draws = loss, draws
        self.threads = threading.local()
        self.shared = None if draws else self._functions(None)

    def _functions(self, generator: Any) -> tuple[Any, Function, Function]:
        loss = self.loss

        def objective(params: Any, buffers: Any, batch: Any) -> Any:
            given, buffers = loss.given(params, buffers, batch, generator, True)
            return loss.loss(*given), buffers

        objective.__name__ = "the loss"
        step = value_and_grad(objective, has_aux=True)
        return generator, step, Compiled(step)

    def run(self, params: Any, extra: Any, args: Any, is_compiled: bool, chunk: int) -> tuple[list[Any], Any]:
        """The value, the gradient and the buffers of a chunk, the last times its rows if the loss is a sum."""
        buffers, seed, epoch, is_mean = extra
        functions = self.shared
        if functions is None:
            if not hasattr(self.threads, "functions"):
                self.threads.functions = self._functions(np.random.default_rng(0))
            functions = self.threads.functions
            sequence = np.random.SeedSequence(seed, spawn_key=(1, epoch, chunk))
            functions[0].bit_generator.state = type(functions[0].bit_generator)(sequence).state
        (value, buffers), gradient = functions[2 if is_compiled else 1](params, buffers, args)
        scale = 1.0 if is_mean else float(len(args[0]))
        weighted = [x if scale == 1.0 else np.asarray(plain(x), float) * scale for x in leaves(buffers)]
        arrays = [plain(x) for x in (value, *leaves(gradient), *weighted)]
        return arrays, None


class AssessProgram:
    """The loss and the metrics of a chunk of validation data."""

    def __init__(self, loss: ChunkLoss, metrics: list[Function]) -> None:
        self.loss, self.functions = loss, [loss.loss, *metrics]
        self.compiled = Compiled(self.assess)

    def assess(self, params: Any, buffers: Any, batch: Any) -> list[Any]:
        """The numbers of a chunk."""
        given, _ = self.loss.given(params, buffers, batch, None, False)
        return [function(*given) for function in self.functions]

    def run(self, params: Any, extra: Any, args: Any, is_compiled: bool, chunk: int) -> tuple[list[Any], Any]:
        """The numbers of a chunk as arrays."""
        found = (self.compiled if is_compiled else self.assess)(params, extra, args)
        return [plain(x) for x in found], None


class ChunkBatches:
    """The chunks of an epoch, a step after the other: what `gt.fit`'s loop takes for batches."""

    arrays = None
    what = "data"

    def __init__(self, chunks: int, rows: int, batch_chunks: int, seed: int, shuffle: bool) -> None:
        self.chunks, self.examples, self.batch_size = chunks, rows, batch_chunks
        self.seed, self.shuffle = seed, shuffle
        self.epoch = 0

    def count(self) -> int:
        """How many steps an epoch has."""
        return -(-self.chunks // self.batch_size)

    def each(self, order: Any, skipped: int = 0) -> Iterator[list[int]]:
        """The chunks of each step of this epoch, without the first `skipped` steps."""
        order = np.arange(self.chunks)
        if self.shuffle:
            sequence = np.random.SeedSequence(self.seed, spawn_key=(0, self.epoch))
            order = np.random.default_rng(sequence).permutation(self.chunks)
        for number in range(skipped, self.count()):
            yield [int(place) for place in order[number * self.batch_size : (number + 1) * self.batch_size]]


class ChunkFitting(Fitting):
    """One call of `gt.distributed.fit`."""

    def prepare(
        self, data: Any, validation: Any, options: dict[str, Any], batch_chunks: int, seed: int, shuffle: bool
    ) -> None:
        """Look at the rows, at where they are computed, and at what the loss makes of some of them."""
        dtype = one_dtype(self.params)
        self.chunk_loss = ChunkLoss(self.model, self.loss, self.inputs, dtype)
        self.jit, self.seed = bool(options["jit"]), seed
        function = RowFunction("fit", self.chunk_loss, groups=1, **options)
        self.plan, _ = function.plan(self.params, data)
        assert self.plan.reduction in REDUCTIONS
        self.data: Any = ChunkBatches(len(self.plan.blocks), self.plan.rows.total, batch_chunks, seed, shuffle)
        self.program = Shipped(StepProgram, self.chunk_loss, self._draws())
        self.validation, self.over_rows = None, None
        if validation is not None and all(map(is_dask, validation if isinstance(validation, tuple) else [validation])):
            given = validation if isinstance(validation, tuple) else (validation,)
            self.check_loss("validation", len(given))
            rows = Rows("fit", given)
            engine = choose_engine("fit", options["on"], rows.arrays)
            self.over_rows = Plan(rows, engine, engine.blocks(rows, None))
            self.assessing = Shipped(AssessProgram, self.chunk_loss, list(self.metrics.values()))
        elif validation is not None:
            self.validation = Batches("validation", validation, VALIDATION_ROWS, False, dtype)
        update = self.optimiser.update
        self.update: Function = Compiled(lambda grads, state, params: update(grads, state, params))
        if not self.jit:
            self.update = update
        self._tell_of_statistics()

    def _draws(self) -> bool:
        """Whether the module draws while training: seen from a generator that it gets for a few rows."""
        if not isinstance(self.model, Module):
            return False
        rows = self.plan.rows
        few = self.plan.engine.compute(rows.sample(min(ROWS, 4)))
        generator = np.random.default_rng(0)
        before = generator.bit_generator.state
        self.chunk_loss.given(self.params, self.buffers, few, generator, True)
        return bool(generator.bit_generator.state != before)

    def _tell_of_statistics(self) -> None:
        """Say once that statistics of a batch are those of a chunk."""
        if not isinstance(self.model, Module) or not self.plan.engine.is_first:
            return
        names = [type(each).__name__ for each in self.model.modules() if isinstance(each, BatchNorm)]
        if names:
            low, high = min(self.plan.rows.lengths), max(self.plan.rows.lengths)
            report(
                problem(
                    "GT603",
                    f"{TITLE}: {names[0]} normalises by the statistics of a chunk",
                    consequence=f"a chunk has {low}{'' if low == high else f' to {high}'} rows; the running statistics "
                    "are the mean over the chunks of a step",
                    fixes="chunks of some hundred rows, X.rechunk((512, -1)); or LayerNorm, GroupNorm, which know no "
                    "batch",
                )
            )

    # -- the loop

    def run(self, resume: bool, progress: bool | None) -> History:
        """Go on until the last epoch; of several equal processes, the first shows progress."""
        return super().run(resume, progress if self.plan.engine.is_first else False)

    def _taken_up(self, generators: Any) -> Any:
        return self.plan.engine.from_first(lambda: super(ChunkFitting, self)._taken_up(generators))

    def _store(self) -> None:
        if self.plan.engine.is_first:
            super()._store()

    def _facts(self) -> dict[str, Any]:
        lengths = np.array(self.plan.rows.lengths, np.int64)
        return {
            "optimiser": self.optimiser.name,
            "examples": self.data.examples,
            "chunks": hashlib.sha256(lengths.tobytes()).hexdigest()[:16],
            "batch_chunks": self.data.batch_size,
            "shuffled": self.data.shuffle,
            "seed": self.seed,
        }

    def _epoch(self) -> None:
        self.data.epoch = self.at.epoch
        super()._epoch()

    def _after(self, batch: list[int]) -> tuple[float, int, Any, Any, Any]:
        at, plan = self.at, self.plan
        is_mean = plan.reduction == "mean"
        blocks = plan.blocks.select(batch, plan.engine.block_size(len(batch)))
        rows = sum(map(sum, blocks.lengths))
        extra = (at.buffers, self.seed, at.epoch, is_mean)
        part = self._total(f"{self.chunk_loss.__name__}-step", self.program, plan, blocks, extra, is_mean)
        count = len(leaves(at.params))
        for array in part.arrays if is_mean else part.arrays[1 + count :]:
            np.divide(array, float(rows), out=array)
        found = [_restored(*each) for each in zip(part.arrays, part.dtypes, strict=True)]
        number = float(found[0])
        if not math.isfinite(number):
            chunks = ", ".join(str(plan.blocks.numbers[place][0]) for place in batch[:20])
            raise self._not_finite(
                f"the loss is {number} in",
                f"look at the chunks {chunks}: X.blocks[i].compute() has the rows of chunk i; a smaller learning rate "
                "if the loss grew",
            )
        gradient, buffers = rebuild(at.params, found[1 : 1 + count]), rebuild(at.buffers, found[1 + count :])
        with one_thread():
            params, state = self.update(gradient, at.state, at.params)
        return number, rows, params, buffers, state

    def _total(self, label: str, program: Shipped, plan: Plan, blocks: Blocks, extra: Any, is_mean: bool) -> Part:
        rows = plan.rows
        shared = Broadcast(self.at.params, extra, rows.form, [], rows.places, is_mean, self.jit)
        return plan.engine.run(label, program, shared, blocks, rows)

    def _assessed(self) -> dict[str, float]:
        """The loss and the metrics of the validation data."""
        if self.over_rows is None:
            return super()._assessed()
        plan = self.over_rows
        label = f"{self.chunk_loss.__name__}-validation"
        part = self._total(label, self.assessing, plan, plan.blocks, self.at.buffers, True)
        names = ["validation_loss", *self.metrics]
        return {name: float(x) / plan.rows.total for name, x in zip(names, part.arrays, strict=True)}


def _restored(array: Any, dtype: np.dtype[Any]) -> Any:
    """A mean over chunks in the dtype of what it is the mean of; a count is a whole number again."""
    return hand_out(np.rint(array) if dtype.kind in "iu" else array, dtype)
