"""NumPy programs as scientists write them, each a file: buffers, writes in place, arrays of numbers, loops.

A file has `initialise(size)`, which gives the arguments; `program(*arguments)`, a scalar; `ARGUMENTS`, the positions of
those it is differentiated by; the sizes `SMALL` and `PAPER`. Many have `concatenated`, which is the same mathematics
without a write: lists that are stacked, arrays that are concatenated.

    >>> import numpy
    >>> import programs
    >>> module = programs.load("durbin", numpy)  # the program with NumPy itself, or with another namespace like it
    >>> bool(module.program(*module.initialise(module.SMALL)) > 0)
    True
"""

from __future__ import annotations

import copy
import importlib.util
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy

FOLDER = Path(__file__).resolve().parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "run"))
STEP = 1e-6
"""Of the central differences; the arguments are of the order of one."""


def load(name: str, namespace: Any = None) -> types.ModuleType:
    """The program `name` as a module of its own, with `namespace` in the place of `gradtape.numpy`."""
    spec = importlib.util.spec_from_file_location(f"programs.{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if namespace is not None:
        module.np = namespace  # type: ignore[attr-defined]
    return module


def arguments(module: types.ModuleType, size: Any) -> list[Any]:
    """The arguments of a program, new ones each time: programs write to theirs."""
    return list(module.initialise(size))


def random_directions(module: types.ModuleType, inputs: list[Any], count: int) -> Iterator[list[Any]]:
    """Directions in the space of the arguments that the program is differentiated by; seeded."""
    rng = numpy.random.default_rng(0)
    for _ in range(count):
        yield [rng.standard_normal(numpy.shape(inputs[i])) for i in module.ARGUMENTS]


def difference(
    module: types.ModuleType, function: Callable[..., Any], inputs: list[Any], direction: list[Any]
) -> float:
    """The derivative of `function` along `direction` by central differences; `module` is loaded with NumPy."""
    values = []
    for sign in (1.0, -1.0):
        moved = copy.deepcopy(inputs)
        for i, d in zip(module.ARGUMENTS, direction, strict=True):
            moved[i] = moved[i] + sign * STEP * d
        values.append(function(*moved))
    return (values[0] - values[1]) / (2.0 * STEP)


def product(gradients: Any, direction: list[Any]) -> tuple[float, float]:
    """The derivative along `direction` that gradients give, and the sum of the magnitudes in it."""
    terms = [numpy.asarray(g) * d for g, d in zip(gradients, direction, strict=True)]
    return sum(float(numpy.sum(t)) for t in terms), sum(float(numpy.sum(numpy.abs(t))) for t in terms)


def wrong_gradient(name: str, form: str, value: Any, gradients: Any, count: int = 2) -> str:
    """What is wrong with a value and gradients at the small size, against NumPy and differences; "" if nothing is."""
    module = load(name, numpy)
    function, inputs = getattr(module, form), arguments(module, module.SMALL)
    wanted = float(function(*copy.deepcopy(inputs)))
    if not abs(float(value) - wanted) <= 1e-10 * (1.0 + abs(wanted)):
        return f"value {float(value):.12g}, NumPy has {wanted:.12g}"
    for g, i in zip(gradients, module.ARGUMENTS, strict=True):
        if numpy.shape(g) != numpy.shape(inputs[i]):
            return f"gradient of shape {numpy.shape(g)} for argument {i} of shape {numpy.shape(inputs[i])}"
    for direction in random_directions(module, inputs, count):
        slope = difference(module, function, inputs, direction)
        found, scale = product(gradients, direction)
        if not abs(found - slope) <= 1e-5 * (abs(slope) + scale) + 1e-8 * abs(wanted):
            return f"derivative along a direction {found:.9g}, differences have {slope:.9g}"
    return ""
