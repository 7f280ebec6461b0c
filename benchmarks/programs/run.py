"""The programs of this folder with gradtape, eager and compiled, and with jax and numba where they run them.

    python benchmarks/programs/run.py [--only lu,adi,...] [--seconds 0.5] [--clock cpu] [--threads 1] [--json out.json]

Each program and each library has a process of its own. At the small size the value is compared with NumPy's and the
gradient with differences; at the paper size value and gradient are timed, the first call of the compiled function
apart. jax gets the same program with `jax.numpy` in the place of `gradtape.numpy`, numba with `numpy` (value only): a
dash says that it does not run it unchanged. Prints a Markdown table and totals; the exit status is 1 if a result of
gradtape's is wrong.
"""

from __future__ import annotations

import argparse
import copy
import functools
import inspect
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from measure import CLOCKS, installed, limit_threads  # noqa: E402

import programs  # noqa: E402

LIBRARIES = ("gradtape", "jax", "numba")
FORMS = ("program", "concatenated")
ENOUGH = 1.3
"""How much slower than the concatenated form a program with writes may be."""


# -- one program with one library, in its own process


def best_call(step: Callable[[], Any], seconds: float, now: Callable[[], float]) -> float:
    """The seconds of the best of many calls: interruptions only ever add time."""
    best, spent = float("inf"), 0.0
    while spent < seconds:
        begun = now()
        step()
        taken = now() - begun
        best, spent = min(best, taken), spent + max(taken, 1e-5)
    return best


def measure_gradtape(name: str, seconds: float, now: Callable[[], float]) -> dict[str, Any]:
    """What is wrong, the times, and how much is native, for each form of the program."""
    import gradtape

    module = programs.load(name)
    found: dict[str, Any] = {}
    for form in FORMS:
        if hasattr(module, form):
            step = gradtape.value_and_grad(getattr(module, form), argnums=module.ARGUMENTS)
            found[form] = _measured_form(name, form, module, step, gradtape.jit(step), seconds, now)
    return found


def _measured_form(
    name: str, form: str, module: Any, eager: Any, compiled: Any, seconds: float, now: Callable[[], float]
) -> dict[str, Any]:
    wrong = {}
    for mode, step in (("eager", eager), ("compiled", compiled)):
        step(*programs.arguments(module, module.SMALL))  # the second call runs what the first one compiled
        wrong[mode] = programs.wrong_gradient(name, form, *step(*programs.arguments(module, module.SMALL)))
    inputs = programs.arguments(module, module.PAPER)
    begun = time.perf_counter()
    value, gradients = compiled(*copy.deepcopy(inputs))
    first = time.perf_counter() - begun
    before = compiled.stats.uncompiled
    compiled(*copy.deepcopy(inputs))
    is_compiled = compiled.stats.uncompiled == before
    wanted, slopes = eager(*copy.deepcopy(inputs))
    pairs = [(value, wanted), *zip(gradients, slopes, strict=True)]
    if not wrong["compiled"] and not all(numpy.allclose(a, b, rtol=1e-6, atol=1e-9 * _largest(b)) for a, b in pairs):
        wrong["compiled"] = "eager and compiled differ at the paper size"
    times = {
        mode: best_call(functools.partial(step, *inputs), seconds, now)
        for mode, step in (("eager", eager), ("compiled", compiled))
    }
    return {"wrong": wrong, "first": first, **times, "native": _native_share(compiled, inputs) if is_compiled else None}


def _largest(array: Any) -> float:
    return float(numpy.max(numpy.abs(array), initial=1e-30))


def _native_share(compiled: Any, inputs: list[Any]) -> float:
    """The share of native steps in the time of a compiled function: 1 if all are."""
    steps = compiled.timeline(*copy.deepcopy(inputs)).steps
    if all(step.native for step in steps):
        return 1.0
    whole = sum(step.seconds for step in steps)
    return min(0.99, sum(step.seconds for step in steps if step.native) / whole)


def measure_jax(name: str, seconds: float, now: Callable[[], float]) -> dict[str, Any]:
    """The times of `jax.jit` of value and gradient, with arrays for the arguments that are differentiated by."""
    import jax

    jax.config.update("jax_enable_x64", True)
    module = programs.load(name, jax.numpy)
    fixed = [i for i, value in enumerate(module.initialise(module.SMALL)) if i not in module.ARGUMENTS]
    static = [i for i in fixed if not isinstance(module.initialise(module.SMALL)[i], numpy.ndarray)]
    step = jax.jit(jax.value_and_grad(module.program, argnums=module.ARGUMENTS), static_argnums=static)
    small = programs.arguments(module, module.SMALL)
    value, gradients = step(*small)
    wrong = programs.wrong_gradient(name, "program", value, gradients)
    inputs = programs.arguments(module, module.PAPER)
    begun = time.perf_counter()
    jax.block_until_ready(step(*inputs))
    first = time.perf_counter() - begun
    taken = best_call(lambda: jax.block_until_ready(step(*inputs)), seconds, now)
    return {"wrong": wrong, "first": first, "best": taken}


def measure_numba(name: str, seconds: float, now: Callable[[], float]) -> dict[str, Any]:
    """The times of the value alone, if numba compiles all functions of the program without Python."""
    import numba

    module = programs.load(name, numpy)
    for known, function in list(vars(module).items()):
        if inspect.isfunction(function) and function.__module__ == module.__name__ and known != "initialise":
            setattr(module, known, numba.njit(function))
    plain = programs.load(name, numpy)
    small = programs.arguments(module, module.SMALL)
    wanted = float(plain.program(*copy.deepcopy(small)))
    value = float(module.program(*small))
    wrong = "" if abs(value - wanted) <= 1e-9 * (1.0 + abs(wanted)) else f"value {value}, NumPy has {wanted}"
    inputs = programs.arguments(module, module.PAPER)
    begun = time.perf_counter()
    module.program(*copy.deepcopy(inputs))
    first = time.perf_counter() - begun
    best, spent = float("inf"), 0.0
    while spent < seconds:
        fresh = copy.deepcopy(inputs)  # it writes to its arguments
        begun = now()
        module.program(*fresh)
        taken = now() - begun
        best, spent = min(best, taken), spent + max(taken, 1e-5)
    return {"wrong": wrong, "first": first, "best": best}


MEASURES = {"gradtape": measure_gradtape, "jax": measure_jax, "numba": measure_numba}


def ask(name: str, library: str, options: argparse.Namespace) -> Any:
    """What one library makes of one program, from a process of its own; a sentence if it fails."""
    command = [sys.executable, str(HERE / "run.py"), "--one", name, library]
    command += ["--seconds", str(options.seconds), "--clock", options.clock]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return f"takes more than {options.limit:.0f} s"
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        return next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "no message")
    return json.loads(done.stdout.splitlines()[-1])


# -- the table

HEADER = (
    "program", "right", "native", "first call s", "eager ms", "compiled ms", "eager / compiled",
    "in place / concatenated", "jax ms (first call s)", "numba, value only, ms",
)  # fmt: skip


def show(name: str, found: dict[str, Any], counts: dict[str, list[str]]) -> str:
    """The row of one program; what is to be counted is added to `counts`."""
    ours = found["gradtape"]
    if isinstance(ours, str):
        counts["wrong"].append(f"{name}: {ours}")
        cells = [name, "no", *["-"] * 6]
    else:
        main, other = ours["program"], ours.get("concatenated")
        for form, each in ours.items():
            for mode, words in each["wrong"].items():
                if words:
                    counts["wrong"].append(f"{name} ({form}, {mode}): {words}")
        if not any(main["wrong"].values()):
            counts["right"].append(name)
        speedup = main["eager"] / main["compiled"]
        if main["native"] == 1.0:
            counts["native"].append(name)
        if main["native"] is not None and speedup > 1.0:
            counts["faster"].append(name)
        ratio = main["compiled"] / other["compiled"] if other and other["compiled"] else None
        if ratio is not None:
            counts["compared"].append(name)
            if ratio <= ENOUGH:
                counts["close"].append(name)
        cells = [
            name,
            "yes" if not any(main["wrong"].values()) else "no",
            "no" if main["native"] is None else "yes" if main["native"] == 1.0 else f"{main['native']:.0%}",
            f"{main['first']:.2f}",
            _number(main["eager"] * 1e3),
            _number(main["compiled"] * 1e3),
            f"{speedup:.1f}",
            "" if ratio is None else f"{ratio:.2f}",
        ]
    for library in LIBRARIES[1:]:
        theirs = found.get(library)
        if not isinstance(theirs, dict) or theirs["wrong"]:
            cells.append("-")
            continue
        counts[library].append(name)
        cells.append(_number(theirs["best"] * 1e3) + (f" ({theirs['first']:.1f})" if library == "jax" else ""))
    return "| " + " | ".join(cells) + " |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default=",".join(programs.NAMES), help="which programs, by name (default: all)")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each measurement")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall", help="cpu is steadier on a busy machine")
    parser.add_argument("--threads", type=int, help="threads of each process")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds after which a library is given up")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--one", nargs=2, metavar=("PROGRAM", "LIBRARY"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        name, library = options.one
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(json.dumps(MEASURES[library](name, options.seconds, CLOCKS[options.clock])))
        return 0
    wanted = options.only.split(",")
    unknown = [name for name in wanted if name not in programs.NAMES]
    if unknown:
        parser.error(f"no programs named {', '.join(unknown)}; there are {', '.join(programs.NAMES)}")
    if options.threads is not None:
        limit_threads(options.threads)
    libraries = [library for library in LIBRARIES if installed(library)]
    missing = [library for library in LIBRARIES if library not in libraries]
    if missing:
        print(f"not installed: {', '.join(missing)}\n")
    print("| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER))
    counts: dict[str, list[str]] = {
        key: [] for key in ("right", "native", "faster", "compared", "close", "jax", "numba", "wrong")
    }
    rows = []
    for name in wanted:
        found = {library: ask(name, library, options) for library in libraries}
        rows.append({"program": name, **found})
        print(show(name, found, counts), flush=True)
    print(f"\nright: {len(counts['right'])} of {len(wanted)}")
    print(f"native: {len(counts['native'])}, compiled faster than eager: {len(counts['faster'])}")
    print(f"in place within {ENOUGH} of concatenated: {len(counts['close'])} of {len(counts['compared'])}")
    print(f"run unchanged by jax: {len(counts['jax'])}, by numba (value only): {len(counts['numba'])}")
    for words in counts["wrong"]:
        print(words)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return int(bool(counts["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
