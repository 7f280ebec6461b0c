"""Forward and backward of the commonest operations, one by one, at three sizes, against PyTorch eager and autograd.

    python benchmarks/ops.py [--only matmul,sum] [--sizes 10,1000,1000000] [--seconds 0.1] [--json out.json]

A step runs the operation on tracked inputs that were there before and pulls a fixed cotangent back. A row
is the time of one step for each library and how many of gradtape's steps fit into a rival's. See README.md.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from measure import CLOCKS, installed, limit_threads
from workloads import SEED

BLOCK = 0.003  # seconds of steps between two readings of the clock
LIBRARIES = ("gradtape", "torch", "autograd")
SIZES = (10, 1000, 1_000_000)
Shapes = tuple[tuple[int, ...], ...]
Function = Callable[..., Any]


def vector(size: int) -> Shapes:
    return ((size,),)


def pair(size: int) -> Shapes:
    return ((size,), (size,))


def square(size: int) -> Shapes:
    side = round(math.sqrt(size))
    return ((side, side),)


def squares(size: int) -> Shapes:
    return square(size) * 2


def matrix_and_row(size: int) -> Shapes:
    side = round(math.sqrt(size))
    return ((side, side), (side,))


def system(size: int) -> Shapes:
    """A matrix and a right-hand side; a thousand unknowns would be about the solver only."""
    side = min(round(math.sqrt(size)), 200)
    return ((side, side), (side, 1))


def images(size: int) -> Shapes:
    """A batch of images of 8 channels and as many kernels of 3 by 3."""
    side = max(3, round(math.sqrt(size / 64)))
    return ((8, 8, side, side), (8, 8, 3, 3))


@dataclass(frozen=True)
class Operation:
    """One row: the shapes for a size, and the operation as a function of a library's module and its arrays."""

    name: str
    shapes: Callable[[int], Shapes]
    function: Function
    torch: Function | None = None
    autograd: Function | None = None
    compared_with: tuple[str, ...] = ("torch", "autograd")
    positive: bool = False

    def of(self, library: str) -> Function:
        return {"torch": self.torch, "autograd": self.autograd}.get(library) or self.function


def _autograd_logsumexp(xp: Any, x: Any) -> Any:
    from autograd.scipy.special import logsumexp

    return logsumexp(x, axis=1)


def _autograd_softmax(xp: Any, x: Any) -> Any:
    shifted = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return shifted / xp.sum(shifted, axis=1, keepdims=True)


def _every_other(xp: Any, x: Any) -> Any:
    return x[np.arange(0, x.shape[0], 2)]


OPERATIONS = (
    Operation("add", pair, lambda xp, x, y: x + y),
    Operation("subtract", pair, lambda xp, x, y: x - y),
    Operation("multiply", pair, lambda xp, x, y: x * y),
    Operation("divide", pair, lambda xp, x, y: x / y, positive=True),
    Operation("multiply by a number", vector, lambda xp, x: x * 3.0),
    Operation("add a row", matrix_and_row, lambda xp, x, y: x + y),
    Operation("square", vector, lambda xp, x: x**2),
    Operation("power", vector, lambda xp, x: x**1.5, positive=True),
    Operation("sqrt", vector, lambda xp, x: xp.sqrt(x), positive=True),
    Operation("exp", vector, lambda xp, x: xp.exp(x)),
    Operation("log", vector, lambda xp, x: xp.log(x), positive=True),
    Operation("sin", vector, lambda xp, x: xp.sin(x)),
    Operation("cos", vector, lambda xp, x: xp.cos(x)),
    Operation("tanh", vector, lambda xp, x: xp.tanh(x)),
    Operation("absolute", vector, lambda xp, x: xp.abs(x)),
    Operation("sigmoid", vector, lambda xp, x: xp.sigmoid(x), autograd=lambda xp, x: 1 / (1 + xp.exp(-x))),
    Operation("maximum", pair, lambda xp, x, y: xp.maximum(x, y)),
    Operation("where", pair, lambda xp, x, y: xp.where(x > 0, x, y)),
    Operation("clip", vector, lambda xp, x: xp.clip(x, -0.5, 0.5)),
    Operation("sum", vector, lambda xp, x: xp.sum(x)),
    Operation("sum of rows", square, lambda xp, x: xp.sum(x, axis=1), torch=lambda xp, x: xp.sum(x, dim=1)),
    Operation("mean", vector, lambda xp, x: xp.mean(x)),
    Operation("var", vector, lambda xp, x: xp.var(x), torch=lambda xp, x: xp.var(x, correction=0)),
    Operation("max of rows", square, lambda xp, x: xp.max(x, axis=1), torch=lambda xp, x: xp.amax(x, dim=1)),
    Operation("prod", vector, lambda xp, x: xp.prod(x), positive=True),
    Operation("cumsum", vector, lambda xp, x: xp.cumsum(x), torch=lambda xp, x: xp.cumsum(x, dim=0)),
    Operation("norm", vector, lambda xp, x: xp.linalg.norm(x)),
    Operation(
        "logsumexp",
        square,
        lambda xp, x: xp.logsumexp(x, axis=1),
        torch=lambda xp, x: xp.logsumexp(x, dim=1),
        autograd=_autograd_logsumexp,
    ),
    Operation(
        "softmax",
        square,
        lambda xp, x: xp.softmax(x, axis=1),
        torch=lambda xp, x: xp.softmax(x, dim=1),
        autograd=_autograd_softmax,
    ),
    Operation("matmul", squares, lambda xp, x, y: x @ y),
    Operation("dot", pair, lambda xp, x, y: xp.dot(x, y)),
    Operation("einsum", squares, lambda xp, x, y: xp.einsum("ij,ij->i", x, y)),
    Operation("outer", lambda size: ((round(math.sqrt(size)),),) * 2, lambda xp, x, y: xp.outer(x, y)),
    Operation("solve", system, lambda xp, x, y: xp.linalg.solve(x, y)),
    Operation("reshape", square, lambda xp, x: xp.reshape(x, (-1,))),
    Operation("transpose", square, lambda xp, x: x.T),
    Operation("concatenate", pair, lambda xp, x, y: xp.concatenate([x, y])),
    Operation("stack", pair, lambda xp, x, y: xp.stack([x, y])),
    Operation("slice", vector, lambda xp, x: x[1:]),
    Operation("every other by index", vector, _every_other),
    Operation("sort", vector, lambda xp, x: xp.sort(x), torch=lambda xp, x: xp.sort(x).values),
    Operation(
        "convolution",
        images,
        lambda xp, x, w: xp.nn.functional.conv2d(x, w, padding=1),
        compared_with=("torch",),
    ),
)


# -- one library, in a process of its own


def _step(library: str, operation: Operation, arrays: Sequence[np.ndarray]) -> Callable[[], Any]:
    """A function that goes there and back once."""
    function = operation.of(library)
    if library == "gradtape":
        import gradtape as gt

        leaves = [gt.tensor(array, requires_grad=True) for array in arrays]
        seed = np.ones(np.shape(function(gt, *arrays)))

        def step() -> Any:
            for leaf in leaves:
                leaf.grad = None
            function(gt, *leaves).backward(seed)
            return [leaf.grad for leaf in leaves]

    elif library == "torch":
        import torch

        parameters = [torch.from_numpy(array).requires_grad_() for array in arrays]
        seed_there = torch.ones_like(function(torch, *parameters).detach())

        def step() -> Any:
            for parameter in parameters:
                parameter.grad = None
            function(torch, *parameters).backward(seed_there)
            return [parameter.grad.numpy() for parameter in parameters]

    else:
        import autograd.numpy as anp
        from autograd import make_vjp

        seed = np.ones(np.shape(function(anp, *arrays)))

        def step() -> Any:
            pull, _ = make_vjp(lambda xs: function(anp, *xs))(tuple(arrays))
            return pull(seed)

    return step


def _arrays(operation: Operation, size: int) -> list[np.ndarray]:
    rng = np.random.default_rng(SEED)
    arrays = [rng.standard_normal(shape) for shape in operation.shapes(size)]
    if operation.name == "solve":
        arrays[0] += 2 * len(arrays[0]) * np.eye(len(arrays[0]))
    if operation.name == "prod":
        return [1.0 + 1e-7 * np.abs(array) for array in arrays]
    return [np.abs(array) + 0.5 for array in arrays] if operation.positive else arrays


def contend(line: Connection, library: str, clock: str) -> None:
    """Answer what comes along `line`: a row to prepare, or how many steps of it to time."""
    now = CLOCKS[clock]
    known = {operation.name: operation for operation in OPERATIONS}
    step: Callable[[], Any] = list
    while (request := line.recv()) is not None:
        if isinstance(request, tuple):
            name, size = request
            step = _step(library, known[name], _arrays(known[name], size))
            line.send([float(np.sum(np.sin(np.asarray(gradient)))) for gradient in step()])
        else:
            step()
            start = now()
            for _ in range(request):
                step()
            line.send(now() - start)


# -- all of them


@dataclass
class Row:
    name: str
    size: int
    seconds: dict[str, float]
    notes: list[str]

    def ratio(self, rival: str) -> float | None:
        return self.seconds[rival] / self.seconds["gradtape"] if rival in self.seconds else None

    @property
    def met(self) -> bool:
        """None slower than autograd; convolution within three times of PyTorch."""
        floor = {"autograd": 1.0} if "convolution" not in self.name else {"torch": 1 / 3}
        return all((self.ratio(rival) or math.inf) >= least for rival, least in floor.items())


def measured(names: Sequence[str], sizes: Sequence[int], seconds: float, clock: str) -> list[Row]:
    """Every row; the libraries take turns, so that what else the machine is doing meets all of them alike."""
    rows = []
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        lines = {name: stack.enter_context(_worker(context, name, clock)) for name in LIBRARIES if installed(name)}
        for operation in OPERATIONS:
            if operation.name in names:
                racing = {name: line for name, line in lines.items() if name in ("gradtape", *operation.compared_with)}
                rows += [_race(operation.name, size, racing, seconds) for size in sizes]
                print(f"\r{len(rows):>4} rows of {len(names) * len(sizes)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return rows


def _race(name: str, size: int, lines: dict[str, Connection], seconds: float) -> Row:
    row = Row(name, size, {}, [])
    checks = {library: _asked(line, (name, size)) for library, line in lines.items()}
    for library, check in checks.items():
        if not np.allclose(checks["gradtape"], check, rtol=1e-6, atol=1e-6 * size):
            row.notes.append(f"{library} computes another gradient")
    row.seconds = {library: max(_asked(line, 1), 1e-7) for library, line in lines.items()}
    end = time.perf_counter() + seconds * len(lines)
    turns = 0
    while turns < 3 or time.perf_counter() < end:
        for library, line in lines.items():
            count = max(1, min(int(BLOCK / row.seconds[library]), 1000))
            row.seconds[library] = min(row.seconds[library], _asked(line, count) / count)
        turns += 1
    return row


def _asked(line: Connection, request: Any) -> Any:
    line.send(request)
    return line.recv()


@contextmanager
def _worker(context: Any, library: str, clock: str) -> Iterator[Connection]:
    """A process in which one library answers, and the line to it."""
    ours, theirs = context.Pipe()
    process = context.Process(target=contend, args=(theirs, library, clock), daemon=True)
    process.start()
    theirs.close()  # so that a worker that dies is the end of the line, not a silence
    try:
        yield ours
        ours.send(None)
        process.join(timeout=5)
    except EOFError:
        raise RuntimeError(f"{library} failed; its own message is above") from None
    finally:
        ours.close()
        process.kill()


def show(rows: Sequence[Row]) -> str:
    lines = [
        f"{'operation':24}{'size':>9}"
        + "".join(f"{name:>12}" for name in LIBRARIES)
        + f"{'torch /':>10}{'autograd /':>12}  met"
    ]
    for row in rows:
        times = "".join(
            f"{row.seconds[name] * 1e6:>12,.1f}" if name in row.seconds else f"{'-':>12}" for name in LIBRARIES
        )
        ratios = "".join(
            f"{ratio:>{width}.2f}" if (ratio := row.ratio(rival)) else f"{'-':>{width}}"
            for rival, width in (("torch", 10), ("autograd", 12))
        )
        notes = "; ".join(["", *row.notes])
        lines.append(f"{row.name:24}{row.size:>9,}{times}{ratios}  {'yes' if row.met else 'NO'}{notes}")
    for rival in LIBRARIES[1:]:
        ratios = [ratio for row in rows if (ratio := row.ratio(rival))]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            lines.append(f"geometric mean of {rival} / gradtape: {mean:.2f}")
    lines.append(f"{sum(row.met for row in rows)} of {len(rows)} rows meet the goal")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Forward and backward of single operations; times in microseconds.")
    parser.add_argument("--only", default=",".join(operation.name for operation in OPERATIONS), help="names, by commas")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of elements, by commas")
    parser.add_argument("--seconds", type=float, default=0.1, help="how long to measure each (default 0.1)")
    parser.add_argument("--threads", type=int, help="threads of each library (default: as it pleases)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu is steadier on a busy machine")
    parser.add_argument("--json", type=Path, help="write the rows there, too")
    chosen = parser.parse_args()
    known = {operation.name for operation in OPERATIONS}
    names = [name.strip() for name in chosen.only.split(",")]
    if not set(names) <= known:
        parser.error(
            f"--only: no operation {', '.join(sorted(set(names) - known))}; there are {', '.join(sorted(known))}"
        )
    sizes = [int(size) for size in chosen.sizes.split(",")]
    if chosen.threads:
        limit_threads(chosen.threads)
    if not installed("gradtape"):
        parser.error("gradtape is not installed here; `make opsbench` makes an environment that has everything")
    rows = measured(names, sizes, chosen.seconds, chosen.clock)
    print(show(rows))
    if chosen.json:
        chosen.json.write_text(json.dumps([vars(row) for row in rows], indent=1))
    return int(any(row.notes for row in rows))


if __name__ == "__main__":
    sys.exit(main())
