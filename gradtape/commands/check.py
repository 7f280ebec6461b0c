"""`gradtape check module:function`: derivatives against differences, and whether examples leak into each other."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import linecache
import os
import re
import sys
from types import ModuleType
from typing import Any

import numpy as np

from gradtape.checking import gradcheck
from gradtape.checking.audit_batch import audit_batch
from gradtape.commands import terminal
from gradtape.commands.run import explained

DESCRIPTION = """\
Check a function: its derivatives are compared with central differences, in
reverse and in forward mode (gt.gradcheck), and it is found out whether the
examples of a batch leak into each other (gt.audit_batch).

  gradtape check model.py:predict --shape 8,3
  gradtape check package.model:loss --args "np.ones(3), rng.normal(size=(4, 3))"
  gradtape check model.py:predict --args "weights, batch" --batch 1

The arguments of the function are, in this order of preference
  --args EXPRESSIONS   Python, evaluated in the module of the function, where np,
                       gt and rng (seeded by --seed) are known as well
  --shape 8,3          random numbers of this shape; once for each argument; a
                       number alone is --shape ""
  example_args         a tuple in the module, or a function that returns one
                       (given rng if it takes an argument)

The batch audit looks at the arguments that --batch names (0 if it is not given).
Without --batch it is left out where the result does not have the same first
axis as argument 0.
"""
EXIT_CODES = """\
exit status:
  0  all derivatives agree, no example leaks into another
  1  something is wrong, or the function failed
  2  the command was not used as it can be (no such function, no arguments)
"""


class UsageError(Exception):
    """The command cannot be carried out as it was given."""


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="gradcheck and batch audit of a function",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("function", help="module:function, or path/to/file.py:function")
    parser.add_argument(
        "--args", metavar="EXPRESSIONS", help="the arguments, as Python expressions with commas between"
    )
    parser.add_argument("--shape", metavar="N,M", action="append", type=_shape, help="random numbers of this shape")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    parser.add_argument("--order", type=int, choices=(1, 2), default=1, help="2: second derivatives as well")
    parser.add_argument("--rtol", type=float, default=1e-5, help="relative tolerance of derivatives (1e-5)")
    parser.add_argument("--atol", type=float, default=1e-7, help="absolute tolerance of derivatives (1e-7)")
    parser.add_argument("--batch", metavar="I,J", type=_shape, help="the arguments that hold examples, by number")
    return parser


def _shape(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.strip("() ").split(",") if part.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}; write whole numbers with commas between, such as 8,3") from None
    if any(number < 0 for number in numbers):
        raise argparse.ArgumentTypeError(f"{text!r}; these numbers are not negative")
    return numbers


def main(arguments: argparse.Namespace) -> int:
    """Check the function; the exit status."""
    try:
        module, function = _resolve(arguments.function)
        given = _arguments(arguments, module, function)
    except UsageError as error:
        terminal.complain(f"check: {error}")
        return 2
    except Exception as error:
        return _failed(arguments.function.rpartition(":")[0], error)
    name = getattr(function, "__name__", arguments.function)
    return int(_called_at(function, lambda: _check(name, function, given, arguments)))


def _check(name: str, function: Any, given: tuple[Any, ...], arguments: argparse.Namespace) -> int:
    """Check the function at these arguments and print what came of it; the exit status."""
    try:
        with terminal.working(f"comparing the derivatives of {name} with differences"):
            report = gradcheck(
                function,
                *given,
                order=arguments.order,
                rtol=arguments.rtol,
                atol=arguments.atol,
                raise_exception=False,
            )
        print(report)
        batch = arguments.batch if arguments.batch is not None else _guess_batch(function, given)
        if not batch:
            print("batch audit left out: the result and argument 0 do not share a first axis; --batch names arguments")
            return 0 if report else 1
        with terminal.working(f"looking for leaks between the examples of {name}"):
            audit = audit_batch(function, batch)(*given)
        print(audit)
    except Exception as error:
        return _failed(name, error)
    return 0 if report and audit else 1


def _failed(name: str, error: Exception) -> int:
    """Say what went wrong in the user's code; the exit status."""
    text = explained(error, terminal.has_colour(sys.stderr), terminal.width(sys.stderr))
    terminal.complain(f"check: {name} could not be checked\n{text}")
    return 1


def _called_at(function: Any, call: Any) -> Any:
    """`call()`, made as if from the line that defines `function`: so that line is what messages call the user's."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = getattr(code, "co_name", "")
    if code is None or not name.isidentifier():
        return call()
    for number, line in enumerate(linecache.getlines(code.co_filename), 1):
        if number >= code.co_firstlineno and (found := re.match(rf"(\s*(?:async )?def ){name}\(([^()]*)\)", line)):
            given = "_" * len(found[2])  # so that the call is as long as what stands there
            place = "(" + "\n" * (number - 1) + " " * len(found[1]) + f"{name}({given}))"
            names = {name: lambda *_: call(), given: None}
            return eval(compile(place, code.co_filename, "eval"), names)
    return call()


def _resolve(text: str) -> tuple[ModuleType, Any]:
    """The module and the function that `text` names."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        raise UsageError(f"{text!r}; write module:function, or path/to/file.py:function")
    sys.path.insert(0, os.getcwd())
    module = _load(where)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            own = [n for n, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
            functions = [n for n in own if callable(getattr(module, n)) and not n.startswith("_")]
            raise UsageError(f"{where} has no {name}; it has {', '.join(sorted(functions)) or 'no functions'}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{text} is no function, but of type {type(found).__name__}")
    return module, found


def _load(where: str) -> ModuleType:
    if not where.endswith(".py"):
        try:
            return importlib.import_module(where)
        except ModuleNotFoundError as error:
            if error.name is None or not where.startswith(error.name):
                raise  # the module is there, and lacks another
            raise UsageError(f"there is no module {where}; a file is given as {where}.py:function") from None
    if not os.path.isfile(where):
        raise UsageError(f"there is no file {where}")
    path = os.path.abspath(where)
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(path))
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def _arguments(arguments: argparse.Namespace, module: ModuleType, function: Any) -> tuple[Any, ...]:
    """The arguments to call the function with."""
    import gradtape

    rng = np.random.default_rng(arguments.seed)
    if arguments.args is not None and arguments.shape is not None:
        raise UsageError("--args and --shape were both given; one of them says what the arguments are")
    if arguments.args is not None:
        names = {"np": np, "gt": gradtape, **vars(module), "rng": rng, "_collected": lambda *given: given}
        try:
            given: tuple[Any, ...] = eval(f"_collected({arguments.args})", names)
        except Exception as error:
            raise UsageError(f"--args {arguments.args!r}: {type(error).__name__}: {error}") from None
        return given
    if arguments.shape is not None:
        return tuple(rng.normal(size=shape) if shape else float(rng.normal()) for shape in arguments.shape)
    example = getattr(module, "example_args", None)
    if callable(example):
        example = example(rng) if inspect.signature(example).parameters else example()
    if example is None:
        raise UsageError(
            f"what are the arguments of {function.__name__}{inspect.signature(function)}?\n"
            '  give --shape 8,3 for each, or --args "np.ones(3), 2.0",\n'
            "  or define example_args in its module: a tuple, or a function that returns one"
        )
    return tuple(example) if isinstance(example, tuple | list) else (example,)


def _guess_batch(function: Any, given: tuple[Any, ...]) -> tuple[int, ...]:
    """Argument 0, if it and the result are arrays that have the same first axis."""
    if not given or not isinstance(given[0], np.ndarray) or given[0].ndim == 0:
        return ()
    result = function(*given)
    shape = getattr(result, "shape", ())
    return (0,) if shape[:1] == given[0].shape[:1] else ()
