"""Whole training steps (loss, gradient, Adam's update): gradtape's `jit` against jax.jit and PyTorch, in one table.

    python benchmarks/training.py [--only mlp,lstm,...] [--seconds 2] [--threads 1] [--clock cpu] [--json out.json]
                                  [--torch-compile]

Rows are an MLP, a CNN (LeNet), an LSTM and a block of a transformer, in single precision, from the same parameters on
the same batch. A step of gradtape is one compiled function: `gt.value_and_grad`, then `gt.optim.Adam`. jax has Adam
written out in `jax.numpy`, its parameters are donated; PyTorch has its fused Adam and its own layers. Every contender
has a process of its own and they take turns; the best step counts. The losses of the first steps are compared: the exit
status is 1 if a library's differ from gradtape's.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import limit
import numpy as np
from measure import BLOCK, CLOCKS, PAUSE, installed, limit_threads

RATE, BETAS, EPS = 1e-3, (0.9, 0.999), 1e-8
COMPARED = 5
"""Steps whose losses are compared."""
TOLERANCE = 2e-3
RIVALS = ("jax", "torch")

Step = Callable[[], float]


class Row(NamedTuple):
    """A network: its parameters, its other arguments, and the loss for each library."""

    parameters: list[np.ndarray]
    rest: list[Any]
    loss: Callable[..., Any]


def workload_row(name: str) -> Callable[[str], Row]:
    """The row of a workload of `limit`, all of whose parameters come before its other arguments."""

    def build(library: str) -> Row:
        module = limit.load(name, library)
        (size,) = module.ROWS.values()
        arguments = module.initialise(size)
        count = len(module.ARGUMENTS)
        assert tuple(range(count)) == module.ARGUMENTS, "the parameters are not the first arguments"
        loss = getattr(module, "program_jax", module.program) if library == "jax" else module.program
        return Row(arguments[:count], arguments[count:], module.program_torch if library == "torch" else loss)

    return build


# -- an LSTM that classifies pictures row by row

LENGTH, BATCH, INPUTS, HIDDEN, CLASSES = 28, 64, 28, 128, 10


def lstm_row(library: str) -> Row:
    """28 steps of a layer of 128 cells for a batch of 64, and a linear layer behind the last."""
    rng = np.random.default_rng(31337)
    shapes = [(INPUTS, 4 * HIDDEN), (HIDDEN, 4 * HIDDEN), (4 * HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]
    parameters = [(rng.standard_normal(shape) / math.sqrt(HIDDEN)).astype(np.float32) for shape in shapes]
    x = rng.standard_normal((LENGTH, BATCH, INPUTS)).astype(np.float32)
    losses = {"gradtape": lstm_gradtape, "jax": lstm_jax, "torch": lstm_torch}
    return Row(parameters, [x, rng.integers(0, CLASSES, BATCH)], losses[library])


def lstm_gradtape(w: Any, u: Any, b: Any, v: Any, c: Any, x: Any, labels: Any) -> Any:
    import gradtape.numpy as gnp
    from gradtape.nn import functional

    h, cell = gnp.zeros((BATCH, HIDDEN), np.float32), gnp.zeros((BATCH, HIDDEN), np.float32)
    given = x @ w + b
    for t in range(LENGTH):
        i, f, g, o = gnp.split(given[t] + h @ u, 4, axis=1)
        cell = functional.sigmoid(f) * cell + functional.sigmoid(i) * gnp.tanh(g)
        h = functional.sigmoid(o) * gnp.tanh(cell)
    return functional.cross_entropy(h @ v + c, labels)


def lstm_jax(w: Any, u: Any, b: Any, v: Any, c: Any, x: Any, labels: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def advance(state: Any, given: Any) -> Any:
        h, cell = state
        i, f, g, o = jnp.split(given + h @ u, 4, axis=1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(cell), cell), None

    start = jnp.zeros((BATCH, HIDDEN), jnp.float32), jnp.zeros((BATCH, HIDDEN), jnp.float32)
    (h, _), _ = jax.lax.scan(advance, start, x @ w + b)
    log_p = jax.nn.log_softmax(h @ v + c)
    return -jnp.mean(log_p[jnp.arange(BATCH), labels])


def lstm_torch(torch: Any, w: Any, u: Any, b: Any, v: Any, c: Any, x: Any, labels: Any) -> Any:
    start = torch.zeros((1, BATCH, HIDDEN)), torch.zeros((1, BATCH, HIDDEN))
    weights = [w.T, u.T, b, torch.zeros(4 * HIDDEN)]
    h, _, _ = torch.lstm(x, start, weights, True, 1, 0.0, True, False, False)
    return torch.nn.functional.cross_entropy(torch.addmm(c, h[-1], v), labels)


ROWS: dict[str, Callable[[str], Row]] = {
    "mlp": workload_row("mlp"),
    "cnn": workload_row("lenet"),
    "lstm": lstm_row,
    "transformer": workload_row("transformer"),
}


# -- one step of each library


def with_gradtape(name: str) -> Step:
    """Loss, gradient and update as one compiled function of arrays."""
    import gradtape as gt

    parameters, rest, loss = ROWS[name]("gradtape")
    positions, optimiser = tuple(range(len(parameters))), gt.optim.Adam(RATE, BETAS, EPS)
    params: Any = list(parameters)
    state: Any = optimiser.init(params)

    @gt.jit
    def train(params: Any, state: Any, rest: Any) -> Any:
        value, gradients = gt.value_and_grad(loss, argnums=positions)(*params, *rest)
        params, state = optimiser.update(list(gradients), state, params)
        return value, params, state

    def step() -> float:
        nonlocal params, state
        value, params, state = train(params, state, rest)
        return float(value)

    return step


def with_jax(name: str) -> Step:
    """The same with `jax.jit`; parameters and moments are donated, so that they can be updated in place."""
    import jax
    import jax.numpy as jnp

    row = ROWS[name]("jax")
    rest = [jnp.asarray(array) for array in row.rest]
    params: Any = [jnp.array(array) for array in row.parameters]
    state: Any = 0, [jnp.zeros_like(p) for p in params], [jnp.zeros_like(p) for p in params]

    def train(params: Any, state: Any, rest: Any) -> Any:
        value, gradients = jax.value_and_grad(lambda params: row.loss(*params, *rest))(params)
        count, first, second = state
        count = count + 1
        first = [BETAS[0] * m + (1 - BETAS[0]) * g for m, g in zip(first, gradients, strict=True)]
        second = [BETAS[1] * v + (1 - BETAS[1]) * g * g for v, g in zip(second, gradients, strict=True)]
        scale, correction = RATE / (1 - BETAS[0] ** count), jnp.sqrt(1 - BETAS[1] ** count)
        moments = zip(params, first, second, strict=True)
        params = [p - scale * m / (jnp.sqrt(v) / correction + EPS) for p, m, v in moments]
        return value, params, (count, first, second)

    run = jax.jit(train, donate_argnums=(0, 1))

    def step() -> float:
        nonlocal params, state
        value, params, state = run(params, state, rest)
        return float(value)

    return step


def with_torch(name: str, compiled: bool = False) -> Step:
    """PyTorch's own layers and its fused Adam; with `compiled`, the loss by `torch.compile`."""
    import torch

    row = ROWS[name]("torch")
    rest = [torch.from_numpy(array) for array in row.rest]
    params = [torch.from_numpy(array.copy()).requires_grad_() for array in row.parameters]
    optimiser = torch.optim.Adam(params, RATE, BETAS, EPS, fused=True)
    loss = torch.compile(row.loss) if compiled else row.loss

    def step() -> float:
        optimiser.zero_grad()
        value = loss(torch, *params, *rest)
        value.backward()
        optimiser.step()
        return float(value.detach())

    return step


BUILDERS: dict[str, Callable[[str], Step]] = {
    "gradtape": with_gradtape,
    "jax": with_jax,
    "torch": with_torch,
    "torch.compile": lambda name: with_torch(name, compiled=True),
}


# -- the race


def _contend(line: Connection, name: str, contender: str, clock: str, threads: int | None) -> None:
    """A process that makes steps of one contender when told to."""
    now = CLOCKS[clock]
    if contender == "gradtape" and threads is not None:
        import gradtape as gt

        gt.config.threads = threads
    try:
        begun = now()
        step = BUILDERS[contender](name)
        losses = [step()]
        first = now() - begun
        losses += [step() for _ in range(COMPARED - 1)]
    except Exception as error:
        line.send({"failed": f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]})
        return
    line.send({"first": first, "losses": losses})
    while (count := line.recv()) is not None:
        gc.collect()
        step()
        taken = []
        for _ in range(count):
            begun = now()
            step()
            taken.append(now() - begun)
        line.send((min(taken), sum(taken)))


def race(name: str, contenders: Sequence[str], options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The first losses, the seconds of the first step and those of the best one, of each contender."""
    context = multiprocessing.get_context("spawn")
    found: dict[str, dict[str, Any]] = {}
    lines: dict[str, Connection] = {}
    processes = []
    for contender in contenders:
        ours, theirs = context.Pipe()
        arguments = theirs, name, contender, options.clock, options.threads
        processes.append(context.Process(target=_contend, args=arguments, daemon=True))
        processes[-1].start()
        theirs.close()  # so that a worker that dies is the end of the line, not a silence
        found[contender] = ours.recv()
        if "failed" not in found[contender]:
            lines[contender] = ours
            found[contender]["best"] = math.inf
    spent, turns = dict.fromkeys(lines, 0.0), 0
    while turns < 5 or any(each < options.seconds for each in spent.values()):
        for contender, line in lines.items():
            best = found[contender]["best"]
            time.sleep(PAUSE)
            line.send(max(2, int(BLOCK / best)))
            taken, whole = line.recv()
            found[contender]["best"] = min(best, taken)
            spent[contender] += whole
        turns += 1
    for line in lines.values():
        line.send(None)
    for process in processes:
        process.join(timeout=2)
        process.kill()
    return found


def find_wrong(found: dict[str, dict[str, Any]]) -> list[str]:
    """The contenders whose first losses differ from gradtape's, and those that failed, each with the reason."""
    wanted = np.array(found["gradtape"].get("losses", [math.nan]))
    wrong = []
    for contender, each in found.items():
        if "failed" in each:
            wrong.append(f"{contender}: {each['failed']}")
        elif not np.allclose(each["losses"], wanted, rtol=TOLERANCE):
            wrong.append(f"{contender}: losses {each['losses']} and not {wanted.tolist()}")
    return wrong


def table_row(name: str, found: dict[str, dict[str, Any]], contenders: Sequence[str]) -> str:
    """The line of a row: microseconds of a step, and how many times as long the others take."""
    ours = found["gradtape"].get("best", math.nan)
    cells = [name, f"{ours * 1e6:.0f}"]
    for contender in contenders[1:]:
        best = found[contender].get("best", math.nan)
        cells += [f"{best * 1e6:.0f}", f"{best / ours:.2f}"]
    cells += [f"{found[contender].get('first', math.nan):.2f}" for contender in contenders]
    return "| " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table row by row; 1 if losses differ or a contender fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(ROWS), help="which rows, by name (default: all)")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each contender of each row")
    parser.add_argument("--threads", type=int, help="threads of each process, where the library can be told")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall", help="cpu with --threads 1 if it is busy")
    parser.add_argument("--torch-compile", action="store_true", help="also the loss by torch.compile")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.only.split(",") if name not in ROWS]
    if unknown:
        parser.error(f"no rows named {', '.join(unknown)}; there are {', '.join(ROWS)}")
    if options.threads is not None:
        limit_threads(options.threads)
        if options.threads == 1:
            os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    contenders = ["gradtape", *(rival for rival in RIVALS if installed(rival))]
    if options.torch_compile and installed("torch"):
        contenders.append("torch.compile")
    cells = ["training step", "gradtape us"]
    cells += [cell for rival in contenders[1:] for cell in (f"{rival} us", f"{rival} / gradtape")]
    cells += [f"{contender} first s" for contender in contenders]
    print("| " + " | ".join(cells) + " |\n|" + "---|" * len(cells))
    results, wrong = {}, []
    for name in options.only.split(","):
        results[name] = race(name, contenders, options)
        wrong += [f"{name}, {reason}" for reason in find_wrong(results[name])]
        print(table_row(name, results[name], contenders), flush=True)
    for reason in wrong:
        print(reason)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
