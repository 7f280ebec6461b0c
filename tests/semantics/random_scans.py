"""Random bodies of `gt.scan` and `gt.fori_loop`, compared with the same steps written one after the other.

    python -m tests.semantics.random_scans --programs 1000 --seed 0

A program is the source of a function of two arrays and a number. Its loops read what is around them: arguments, arrays
of the module, arrays and numbers that the function makes, values computed before, the carries and rows of the loops
around. They write to what they carry, go through rows of several shapes and dtypes, forwards or backwards, with or
without a budget of memory. Some write to a buffer outside of them. Each program is differentiated in several ways,
compiled with the checking mode on, called twice with other values, and compared with the eager derivative of the same
source in which the two loops are plain Python loops that copy what they carry.
"""

from __future__ import annotations

import argparse
import linecache
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
import gradtape.numpy as gnp
from gradtape.core.pytree import leaves, rebuild

Function = Callable[..., Any]

VECTOR = np.array([0.3, -0.5, 0.8])
MATRIX = np.array([[0.2, 0.1, -0.4], [0.7, -0.3, 0.5]])
ROWS = {
    "V_ROWS": np.random.default_rng(5).uniform(-1, 1, (12, 3)),
    "S_ROWS": np.random.default_rng(6).uniform(-1, 1, 12),
    "M_ROWS": np.random.default_rng(7).uniform(-1, 1, (12, 2, 3)),
    "F_ROWS": np.random.default_rng(8).uniform(-1, 1, (12, 3)).astype(np.float32),
    "I_ROWS": np.arange(12) * 5 % 3,
    "B_ROWS": np.random.default_rng(9).uniform(0, 1, (12, 3)) > 0.5,
}
KINDS = {
    "V_ROWS": "vector",
    "S_ROWS": "scalar",
    "M_ROWS": "matrix",
    "F_ROWS": "single",
    "I_ROWS": "index",
    "B_ROWS": "mask",
}
BUDGET = ", memory=50_000"
SHAPES = {"scalar": "()", "vector": "(3,)", "matrix": "(2, 3)", "single": "(3,)"}

# -- the loops as they are defined: each step after the other, with copies of all that is carried and stacked


def scan_by_steps(f: Function, init: Any, xs: Any = None, length: Any = None, reverse: bool = False, **_: Any) -> Any:
    """What `gt.scan` gives, by a plain loop."""
    rows = [leaf for leaf in leaves(xs) if leaf is not None]
    steps = len(rows[0]) if rows else length
    carry, collected = _copied(init), []
    y: Any = None
    for t in reversed(range(steps)) if reverse else range(steps):
        carry, y = f(_copied(carry), rebuild(xs, [None if leaf is None else leaf[t] for leaf in leaves(xs)]))
        collected.append(leaves(_copied(y)))
    if reverse:
        collected.reverse()
    columns = zip(*collected, strict=True)
    return carry, rebuild(y, [None if column[0] is None else np.stack(column) for column in columns])


def fori_by_steps(lower: int, upper: int, body: Function, init: Any, **_: Any) -> Any:
    """What `gt.fori_loop` gives, by a plain loop."""
    value = _copied(init)
    for i in range(lower, upper):
        value = body(np.int64(i), _copied(value))
    return value


def _copied(tree: Any) -> Any:
    return rebuild(tree, [leaf.copy() if hasattr(leaf, "copy") else leaf for leaf in leaves(tree)])


# -- programs


class Program:
    """A program as it is drawn: its lines, and the names that can be read where they are, each with its kind."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.count = 0
        self.single = False
        self.has_effects = False  # whether a step writes to what is outside of it
        scope = {"x": "vector", "y": "matrix", "k": "scalar", "VECTOR": "vector", "MATRIX": "matrix"}
        for _ in range(self.rng.integers(1, 3)):
            self.draw_value(scope, "    ")
        results = []
        if self.chance(0.3):
            self.lines.append("    v0 = np.zeros((3,)) + 0.1")
            scope["v0"] = "vector"
            results.append("v0")
        results += [name for _ in range(self.choose([1, 1, 2])) for name in self.draw_loop(scope, "    ", 0)]
        sums = [f"np.sum({name} * {name}) * {0.3 + 0.2 * n:.1f}" for n, name in enumerate(results)]
        self.lines.append(f"    return {' + '.join([*sums, 'np.sum(np.sin(x)) * k'])}")
        self.source = "\n".join(["def program(x, y, k):", *self.lines]) + "\n"
        if self.has_effects:  # a budget has steps run again
            self.source = self.source.replace(BUDGET, "")
        self.arguments = [
            (self.rng.uniform(-1, 1, 3), self.rng.uniform(-1, 1, (2, 3)), float(self.rng.uniform(0.3, 1)))
            for _ in range(2)
        ]

    def choose(self, options: Any) -> Any:
        options = list(options)
        return options[self.rng.integers(len(options))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def read(self, scope: dict[str, str], kind: str) -> str:
        """An expression of that kind that reads one name."""
        names = {name for name, other in scope.items() if other == kind}
        found = [name for name in names for _ in range(2 if name[0] == "v" else 1)]
        by_kind = {
            "scalar": {"vector": ["{}[0]", "np.sum({})", "{}[-1]"], "matrix": ["{}[1, 2]"], "single": ["{}[1]"],
                       "index": ["VECTOR[{} % 3]", "(0.1 * {})"]},
            "vector": {"matrix": ["{}[0]", "{}[-1]", "np.sum({}, 0)"], "single": ["{}"],
                       "mask": ["np.where({}, 0.5, x)", "(1.0 * {})"], "index": ["(np.roll(VECTOR, 1) * {})"]},
            "matrix": {"vector": ["np.stack([{0}, {0} * 0.5])"], "scalar": ["({} * MATRIX)"]},
            "single": {},
        }  # fmt: skip
        for other, forms in by_kind[kind].items():
            found += [self.choose(forms).format(name) for name, its in scope.items() if its == other]
        found.sort()
        return str(self.choose(found))

    def expression(self, scope: dict[str, str], kind: str) -> str:
        """A bounded expression of that kind."""
        a, b = self.read(scope, kind), self.read(scope, kind)
        s, v, m = (self.read(scope, other) for other in ("scalar", "vector", "matrix"))
        forms = [f"np.sin({a} + {b})", f"np.tanh({a} * {b})", f"{a} * 0.5 + 0.25 * {b}", f"np.cos({a}) * {s}",
                 f"np.where({a} > {b}, {a}, 0.3)", f"np.exp(-{a} * {a}) - 0.5", f"{a} / (1.5 + {b} * {b})"]  # fmt: skip
        if kind == "scalar":
            forms += [f"np.tanh({v} @ {v})", f"np.mean({m}) * {s}"]
        if kind == "vector":
            forms += [f"np.tanh({v} @ {m}.T @ {m})", f"np.roll({v}, 1) * 0.7", f"{v}[::-1] * 0.5 + {s}"]
            forms += [f"gt.grad(lambda z: np.sum(np.sin(z * {v}) * {s}))({a})", f"gt.stop_gradient({v}) * {s}"]
            forms += [f"gt.vmap(lambda z: np.sin(z) * {s})({v})", f"np.cumsum({v}) * 0.3"]
        if kind == "matrix":
            forms += [f"np.outer({m}[:, 0], {v})", f"np.tanh({m} - {v})", f"{m}[::-1] * 0.5"]
        return str(self.choose(forms))

    def draw_value(self, scope: dict[str, str], indent: str) -> None:
        """A value that is computed, or an array or a number that is made on the spot."""
        name, kind = self.name(), self.choose(["scalar", "vector", "vector", "matrix"])
        made = {"scalar": "0.25", "vector": "np.linspace(0.1, 0.7, 3)", "matrix": "np.ones((2, 3)) * 0.5"}
        new = made[kind] if self.chance(0.15) else self.expression(scope, kind)
        self.lines.append(f"{indent}{name} = {new}")
        scope[name] = kind

    def draw_write(self, name: str, kind: str, scope: dict[str, str], indent: str) -> None:
        """A write to an array; positions may come from what the loop counts."""
        counters = [other for other, its in scope.items() if its == "index"]
        whole = self.choose([":", "...", "::-1"])
        places = {"vector": {"scalar": ["0", "-1", "1"], "vector": [whole]},
                  "matrix": {"vector": ["0", "-1"], "scalar": ["1, 2"], "matrix": [whole]}}  # fmt: skip
        part = self.choose(places[kind])
        if counters and part != kind and self.chance(0.5):
            place = f"{self.choose(counters)} % {3 if kind == 'vector' else 2}"
            part = "scalar" if kind == "vector" else "vector"
        else:
            place = self.choose(places[kind][part])
        operator = self.choose(["=", "=", "+=", "*="])
        self.lines.append(f"{indent}{name}[{place}] {operator} {self.expression(scope, part)}")

    def draw_loop(self, scope: dict[str, str], indent: str, depth: int) -> list[str]:
        """A loop, nested in others; the names of its results, which are put into the scope."""
        counted = self.chance(0.35)
        body = self.name().replace("v", "body")
        steps = int(self.choose([1, 2, 5, 12])) if not depth else int(self.choose([1, 2, 4]))
        carried = [(self.name(), self.choose(["scalar", "vector", "vector", "matrix", "single"]))
                   for _ in range(self.rng.integers(1, 4))]  # fmt: skip
        rows = [] if counted else self.draw_rows(scope, steps)
        inner = dict(scope)
        inner.update(carried)
        self.single |= any(kind == "single" for _, kind in carried) or any(kind == "single" for *_, kind in rows)
        if counted:
            inner["i"] = "index"
            self.lines.append(f"{indent}def {body}(i, c):")
        else:
            inner.update({name: kind for name, _, kind in rows})
            self.lines.append(f"{indent}def {body}(c, r):")
            if rows:
                self.lines.append(f"{indent}    {''.join(f'{name}, ' for name, *_ in rows)}= r")
        self.lines.append(f"{indent}    {''.join(f'{name}, ' for name, _ in carried)}= c")
        self.draw_body(inner, carried, indent + "    ", depth)
        new = [self.draw_new(name, kind, inner) for name, kind in carried]
        state = f"({''.join(f'{part}, ' for part in new)})"
        stacked = [self.choose([name for name, kind in inner.items() if name[0] == "v" and kind in SHAPES])
                   for _ in range(0 if counted else self.rng.integers(0, 3))]  # fmt: skip
        ys = f"({''.join(f'{name}, ' for name in stacked)})" if stacked else "None"
        self.lines.append(f"{indent}    return {state}" + ("" if counted else f", {ys}"))
        return self.draw_call(body, counted, steps, carried, rows, stacked, scope, indent)

    def draw_rows(self, scope: dict[str, str], steps: int) -> list[tuple[str, str, str]]:
        """Names, arrays and kinds of what a loop goes through: constants, and arrays that are computed."""
        rows = []
        for _ in range(self.rng.integers(0, 4)):
            array, kind = self.choose(KINDS.items())
            text = f"{array}[:{steps}]"
            if kind in ("vector", "scalar", "matrix") and self.chance(0.5):
                text = f"np.sin({text} * {self.read(scope, 'scalar')})"
            rows.append((self.name(), text, kind))
        return rows

    def draw_body(self, scope: dict[str, str], carried: list[tuple[str, str]], indent: str, depth: int) -> None:
        for _ in range(self.rng.integers(1, 4)):
            kind = self.choose(["value", "value", "write", "write", "loop"])
            name, its = self.choose(carried)
            if kind == "write" and "v0" in scope and self.chance(0.2):
                self.draw_write("v0", "vector", scope, indent)
                self.has_effects = True
            elif kind == "write" and its in ("vector", "matrix"):
                self.draw_write(name, its, scope, indent)
            elif kind == "loop" and depth < 1:
                self.draw_loop(scope, indent, depth + 1)
            else:
                self.draw_value(scope, indent)

    def draw_new(self, name: str, kind: str, scope: dict[str, str]) -> str:
        """What takes the place of a value that is carried."""
        if self.chance(0.4):
            return name
        if kind == "single":
            return f"np.tanh({name} * 0.5 + {self.read(scope, 'vector')}).astype(np.float32)"
        return f"np.tanh({name} * 0.5 + {self.expression(scope, kind)})"

    def draw_call(
        self,
        body: str,
        counted: bool,
        steps: int,
        carried: list[tuple[str, str]],
        rows: list[tuple[str, str, str]],
        stacked: list[str],
        scope: dict[str, str],
        indent: str,
    ) -> list[str]:
        """The statement that runs a loop; the names of its results."""
        first = []
        for _, kind in carried:
            if kind == "single":
                first.append("np.ones(3, np.float32)")
            elif self.chance(0.3):
                first.append(f"np.zeros({SHAPES[kind]})")
            else:
                first.append(f"{self.expression(scope, kind)} + np.zeros({SHAPES[kind]})")
        init = f"({''.join(f'{part}, ' for part in first)})"
        budget = self.choose(["", "", BUDGET]) if steps > 2 else ""
        results = [self.name() for _ in carried]
        left = "".join(f"{name}, " for name in results)
        if counted:
            self.lines.append(f"{indent}{left}= fori_loop(0, {steps}, {body}, {init}{budget})")
        else:
            xs = f"({''.join(f'{text}, ' for _, text, _ in rows)})" if rows else f"None, {steps}"
            ys = [self.name() for _ in stacked]
            right = f"({''.join(f'{name}, ' for name in ys)})" if ys else "_"
            reverse = self.choose(["", ", reverse=True"])
            self.lines.append(f"{indent}({left}), {right} = scan({body}, {init}, {xs}{reverse}{budget})")
            results += ys
        scope.update({name: kind for name, (_, kind) in zip(results, carried, strict=False)})
        return results


def function_of(source: str, name: str, scan: Function, fori_loop: Function) -> Function:
    """The function that the source of a program defines, with these loops."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    scope = {"np": gnp, "gt": gt, "VECTOR": VECTOR, "MATRIX": MATRIX, **ROWS, "scan": scan, "fori_loop": fori_loop}
    exec(compile(source, name, "exec"), scope)
    function: Function = scope["program"]  # type: ignore[assignment]
    return function


BOTH = (0, 2)
CHECKS: dict[str, tuple[bool, Callable[[Function], Function]]] = {
    "value": (False, lambda f: f),
    "gradient": (False, lambda f: gt.grad(f, (0, 1, 2))),
    "tangent": (False, lambda f: gt.jacfwd(f, BOTH)),
    "second": (False, lambda f: gt.grad(lambda *a: np.sum(gt.grad(f)(*a) * VECTOR), BOTH)),
    "batch": (False, lambda f: _mapped(gt.grad(f))),
    "compiled": (True, lambda f: f),
    "compiled gradient": (True, lambda f: gt.grad(f, (0, 1, 2))),
    "compiled tangent": (True, lambda f: gt.jacfwd(f, BOTH)),
    "compiled reverse over reverse": (True, lambda f: gt.grad(lambda *a: np.sum(gt.grad(f)(*a) * VECTOR), BOTH)),
    "compiled forward over reverse": (True, lambda f: gt.jacfwd(gt.grad(f, 2), BOTH)),
    "compiled reverse over forward": (True, lambda f: gt.grad(lambda *a: gt.jacfwd(f, 2)(*a), BOTH)),
    "compiled batch": (True, lambda f: _mapped(f)),
    "compiled batch of gradients": (True, lambda f: _mapped(gt.grad(f, BOTH))),
}
"""What is computed of a function, by name, and whether it is compiled."""


def _mapped(f: Function) -> Function:
    """`f` for the rows of two, with the matrix that all share."""
    return lambda x, y, k: gt.vmap(f, (0, None, 0))(np.stack([x, x * 0.5]), y, np.stack([k, k * 0.7]))


def differences(program: Program, seed: int, checks: list[str]) -> list[str]:
    """Which of the checks do not give what the steps give one after the other.

    A budget of memory that is too small for some step is left out.
    """
    try:
        return _differences(program, program.source, seed, checks)
    except gt.OperandError as error:
        if "GT314" not in str(error):
            raise
        return _differences(program, program.source.replace(BUDGET, ""), seed, checks)


def _differences(program: Program, source: str, seed: int, checks: list[str]) -> list[str]:
    found = function_of(source, f"<random scan {seed}>", gt.scan, gt.fori_loop)
    expected = function_of(source, f"<random scan {seed} by steps>", scan_by_steps, fori_by_steps)
    tolerance = 2e-4 if program.single else 1e-8
    wrong = []
    for check in checks:
        is_compiled, transform = CHECKS[check]
        run, model = transform(found), transform(expected)
        if is_compiled:
            run = gt.jit(run)
        is_number = "batch" not in check and seed % 2  # a Python number is a constant of the compiled function
        for x, y, k in program.arguments:
            call = x, y, k if is_number else np.float64(k)
            pairs = zip(leaves(run(*call)), leaves(model(*call)), strict=True)
            if not all(np.allclose(_array(a), _array(b), rtol=tolerance, atol=tolerance) for a, b in pairs):
                wrong.append(check)
                break
    return wrong


def _array(value: Any) -> Any:
    return np.asarray(gt.stop_gradient(value))


def drawn_checks(seed: int, count: int) -> list[str]:
    """Some of the checks, other ones for each seed."""
    return [str(check) for check in np.random.default_rng(seed).choice(list(CHECKS), count, replace=False)]


def is_native(seed: int) -> bool:
    """Whether the program is compiled to native code: for some, as that takes most of the time."""
    return seed % 3 == 0


def main() -> int:
    """Run programs, and print those that differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checks", type=int, default=2, help="how many of the checks are drawn for each program")
    given = parser.parse_args()
    gt.config.check = "memory"
    begun, wrong = time.perf_counter(), 0
    for number, seed in enumerate(range(given.seed, given.seed + given.programs), 1):
        program = Program(seed)
        checks = drawn_checks(seed, given.checks)
        gt.config.native = is_native(seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", gt.GradientWarning)  # some programs do not depend on an argument
                found = differences(program, seed, checks)
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        if found:
            wrong += 1
            print(f"seed {seed}: {', '.join(found)} (of {', '.join(checks)})\n{program.source}", flush=True)
        if not number % 100 or number == given.programs:
            print(f"{number} programs, {wrong} different, {time.perf_counter() - begun:.0f} s", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
