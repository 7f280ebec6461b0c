"""Random programs of views and writes, compared with a model that copies everything.

    python -m tests.semantics.random_writes --programs 1000 --seed 0

A program (see `write_programs`) is run on arrays (values), on tensors in each mode of differentiation, compiled with
its checking mode on, and on the arrays of `model_arrays`, which have neither views nor writes.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
import gradtape.numpy
from gradtape.jit.native.runtime.llvm import host
from tests.semantics.model_arrays import ModelArray, model_numpy, value_of
from tests.semantics.write_programs import Program

Function = Callable[[Any, Any], Any]

CHECKS = ["value", "gradient", "tangent", "second", "batch", "compiled", "compiled gradient"]


def function_of(source: str, namespace: Any) -> Function:
    """The function that the source of a program defines, where `np` is a namespace."""
    scope: dict[str, Any] = {"np": namespace}
    exec(compile(source, "<program>", "exec"), scope)
    function: Function = scope["program"]
    return function


def differences(program: Program, checks: list[str] = CHECKS) -> list[str]:
    """What of a program is not as the model has it."""
    function = function_of(program.source, gradtape.numpy if program.is_drop_in else np)
    of_arrays = function_of(program.source, np)
    of_models = function_of(program.source, model_numpy)
    x, y = program.x, program.y

    def model(x: Any, y: Any) -> Any:
        return value_of(of_models(ModelArray.of(x), ModelArray.of(y)))

    def fresh(x: Any, y: Any) -> Any:  # a function of NumPy's own may write to its arguments
        return function(x * 1.0, y * 1.0)

    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    both = (0, 1)
    wanted: dict[str, Callable[[Function], Any]] = {
        "value": lambda f: f(gt.tensor(x), gt.tensor(y)),
        "gradient": lambda f: gt.grad(f, both)(x, y),
        "tangent": lambda f: gt.jvp(f, (x, y), (direction, y))[1],
        "second": lambda f: gt.grad(lambda x, y: np.sum(gt.grad(f)(x, y) * direction), both)(x, y),
        "batch": lambda f: gt.vmap(gt.grad(f, both))(np.stack([x, y]), np.stack([y, x])),
    }
    compiled: dict[str, tuple[Function, Function]] = {
        "compiled": (gt.jit(function), of_arrays),
        "compiled gradient": (gt.jit(gt.value_and_grad(function, both)), gt.value_and_grad(model, both)),
    }
    calls = [(x, y), (y, x)] if program.has_branch else [(x, y)]  # the guards of branches have to notice other values
    wrong = []
    for check in checks:
        if check in wanted:
            if check == "batch" and program.has_branch:
                continue  # the examples of a batch cannot take different branches
            pairs = [(wanted[check](fresh if check == "value" else function), wanted[check](model))]
        else:
            pairs = [tuple(run(*(array.copy() for array in call)) for run in compiled[check]) for call in calls]
        if not all(is_equal(one, other) for found, expected in pairs for one, other in _arrays_of(found, expected)):
            wrong.append(check)
    return wrong


def is_equal(one: Any, other: Any) -> bool:
    """Whether two arrays are the same but for rounding."""
    return bool(one.shape == other.shape and np.allclose(one, other, rtol=1e-7, atol=1e-9, equal_nan=True))


def _arrays_of(found: Any, expected: Any) -> list[tuple[Any, Any]]:
    return list(zip(_arrays(found), _arrays(expected), strict=True))


def _arrays(values: Any) -> list[Any]:
    if isinstance(values, tuple):
        return [array for value in values for array in _arrays(value)]
    return [np.asarray(gt.stop_gradient(values))]


def main() -> int:
    """Run programs, and print those that differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--eager", action="store_true", help="do not compile")
    only.add_argument("--compiled", action="store_true", help="check compiled functions only")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="of four programs, three without the best instructions of LLVM and with the compiled gradient only: more "
        "programs in the same time",
    )
    given = parser.parse_args()
    gt.config.check = "memory"
    left_out = {"compiled": given.eager, "eager": given.compiled}
    checks = [check for check in CHECKS if not left_out["compiled" if check.startswith("compiled") else "eager"]]
    begun, wrong = time.perf_counter(), 0
    for number, seed in enumerate(range(given.seed, given.seed + given.programs), 1):
        program = Program(seed)
        host().always_hasty = is_quick = given.quick and seed % 4 > 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", gt.GradientWarning)  # some programs do not depend on an argument
                found = differences(program, [check for check in checks if not (is_quick and check == "compiled")])
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        if found:
            wrong += 1
            print(f"seed {seed}: {', '.join(found)}\n{program.source}", flush=True)
        if not number % 200 or number == given.programs:
            print(f"{number} programs, {wrong} different, {time.perf_counter() - begun:.0f} s", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
