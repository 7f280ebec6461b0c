"""Workloads for which there is a hand-written limit: value and gradient by gradtape, by C++, by jax and by PyTorch.

A file of `workloads` has `initialise(size)`, which gives the arguments; `program(*arguments)`, a scalar, written with
`gradtape.numpy` as a user would; `ARGUMENTS`, the positions of those it is differentiated by; `ROWS`, its rows in the
table by name, with their sizes; `SMALL`, a size for tests; `program_torch`; and `program_jax` where jax needs another
program than the same with `jax.numpy`. `anchors/<name>.cpp` is the hand-written program, with `anchor_arguments` in the
workload's file if it takes other arrays than the arguments.

    >>> import limit
    >>> module = limit.load("rosenbrock", "numpy")
    >>> bool(module.program(*module.initialise(module.SMALL)) > 0)
    True
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy

FOLDER = Path(__file__).resolve().parent / "workloads"
NAMESPACES = {
    "gradtape": {"np": "gradtape.numpy", "special": "gradtape.scipy.special"},
    "numpy": {"np": "numpy", "special": "scipy.special"},
    "jax": {"np": "jax.numpy", "special": "jax.scipy.special"},
}
"""What a program's `np` and `special` are for each library."""


def load(name: str, library: str = "gradtape") -> types.ModuleType:
    """The workload of that file as a module of its own, with the namespaces of `library`."""
    spec = importlib.util.spec_from_file_location(f"limit_{name}_{library}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # torch.compile imports it by its name
    spec.loader.exec_module(module)
    for known, namespace in NAMESPACES.get(library, {}).items():
        if hasattr(module, known):
            setattr(module, known, importlib.import_module(namespace))
    return module


def _find_rows() -> dict[str, tuple[str, Any]]:
    rows = {}
    for path in FOLDER.glob("*.py"):
        for row, size in load(path.stem, "").ROWS.items():
            rows[row] = (path.stem, size)
    order = {row: place for place, row in enumerate(ORDER)}
    return dict(sorted(rows.items(), key=lambda item: (order.get(item[0], len(order)), item[0])))


ORDER = (
    "rosenbrock_10", "rosenbrock_1e6", "logistic", "chain_10", "chain_1e5", "black_scholes", "mlp", "rnn", "ode",
    "pressure", "gmm", "gmm_10_25", "gmm_64_100", "bundle", "lstm", "kalman", "nbody", "wave", "gp", "hierarchical",
    "sparse_logistic", "solve", "fft_convolution", "lenet", "transformer",
)  # fmt: skip
ROWS = _find_rows()
"""The rows of the table: the workload's file and the size, by name."""


def close_over(module: types.ModuleType, arguments: list[Any]) -> tuple[Callable[..., Any], list[Any], tuple[int, ...]]:
    """The program with the arguments `CLOSED` in its closure, the other ones, and where those differentiated by are."""
    closed = getattr(module, "CLOSED", ())
    if not closed:
        return module.program, arguments, module.ARGUMENTS
    program, fixed = module.program, {i: arguments[i] for i in closed}
    places = [i for i in range(len(arguments)) if i not in closed]

    def closed_program(*given: Any) -> Any:
        values = {**fixed, **dict(zip(places, given, strict=True))}
        return program(*(values[i] for i in range(len(values))))

    return closed_program, [arguments[i] for i in places], tuple(places.index(i) for i in module.ARGUMENTS)


def anchor_positions(module: types.ModuleType) -> tuple[int, ...]:
    """Which of the arrays that the anchor takes it has gradients by."""
    positions: tuple[int, ...] = getattr(module, "ANCHOR_POSITIONS", module.ARGUMENTS)
    return positions


def relative_difference(found: Sequence[Any], wanted: Sequence[Any]) -> float:
    """The largest difference of two lists of arrays, each relative to the array's largest number."""
    worst = 0.0
    for a, b in zip(found, wanted, strict=True):
        a, b = numpy.asarray(a, float), numpy.asarray(b, float)
        if a.shape != b.shape or not numpy.all(numpy.isfinite(a)):
            return float("inf")
        scale = float(numpy.max(numpy.abs(b), initial=1e-300))
        difference = float(numpy.max(numpy.abs(a - b), initial=0.0)) / scale
        worst = max(worst, difference)
    return worst


def tolerance(arguments: Sequence[Any]) -> float:
    """How far results may be apart: by the precision of the arguments."""
    single = any(getattr(array, "dtype", None) == numpy.float32 for array in arguments)
    return 1e-4 if single else 1e-9
