"""Random programs of views and writes, compared with a model that copies everything.

    python -m tests.semantics.random_writes --programs 1000 --seed 0

A program is the source of a function of two arrays, in NumPy as it is written: views of views, element and slice
assignment, operators in place, `out=`, `ufunc.at`, buffers that are filled, overlapping copies, views that lists and
dictionaries hold, functions that write to their argument, and loops of such writes, long enough to be made loops of the
compiled program. It is run on arrays (values), on tensors in each mode of differentiation, compiled with its checking
mode on, and on `ModelArray`s. A model array is a set of positions in a memory; the memory is one flat tensor, and a
write makes another one by `where`. So what the model differentiates has neither a view nor a write.
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
from gradtape.jit.native.runtime.llvm import host

Function = Callable[[Any, Any], Any]


class Memory:
    """The numbers that arrays share: a flat tensor, and where the elements of its first array are in it."""

    def __init__(self, flat: Any, shape: tuple[int, ...]) -> None:
        self.flat = flat
        self.index = np.arange(flat.shape[0]).reshape(shape)


class ModelArray:
    """Some elements of a memory, in a shape."""

    __array_priority__ = 2000.0

    def __init__(self, memory: Memory, positions: Any) -> None:
        self.memory = memory
        self.positions = positions

    @staticmethod
    def of(value: Any, axes: tuple[int, ...] | None = None) -> ModelArray:
        """A new array with a memory of its own; `axes` are in the order in which they lie in memory."""
        if axes is None:
            axes = tuple(range(np.ndim(value)))
        moved = np.transpose(value, axes)
        memory = Memory(np.reshape(moved, (-1,)), tuple(moved.shape))
        return ModelArray(memory, memory.index.transpose(np.argsort(axes)))

    @property
    def value(self) -> Any:
        """The numbers, as a tensor that shares nothing."""
        return gt.take(self.memory.flat, np.array(self.positions))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.positions.shape)

    def _seen(self, positions: Any) -> ModelArray:
        """The elements at `positions`: a view if NumPy would have made one, else a copy that is laid out as NumPy's."""
        if np.shares_memory(positions, self.memory.index):
            return ModelArray(self.memory, positions)
        return ModelArray.of(gt.take(self.memory.flat, np.array(positions)), _axes_in_memory(positions))

    def __getitem__(self, index: Any) -> ModelArray:
        return self._seen(self.positions[index])

    def reshape(self, *shape: Any) -> ModelArray:
        return self._seen(self.positions.reshape(*shape))

    def ravel(self) -> ModelArray:
        return self._seen(self.positions.ravel())

    @property
    def T(self) -> ModelArray:
        return self._seen(self.positions.T)

    def copy(self) -> ModelArray:
        return ModelArray.of(self.value)

    def sum(self) -> Any:
        return ModelArray.of(np.sum(self.value))

    def __setitem__(self, index: Any, new: Any) -> None:
        self._write(self.positions[index], _value_of(new))

    def _write(self, targets: Any, new: Any) -> None:
        """Replace the elements at `targets`, the later ones last, in a new memory."""
        spread = np.reshape(np.broadcast_to(new, targets.shape), (-1,))
        if not targets.size:
            return
        source = np.zeros(self.memory.index.size, int)
        is_written = np.zeros(self.memory.index.size, bool)
        source[targets.ravel()], is_written[targets.ravel()] = np.arange(targets.size), True
        self.memory.flat = np.where(is_written, gt.take(gt.asarray(spread), source), self.memory.flat)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), where: Any = True) -> Any:
        if method == "at":
            target, index, *others = inputs
            for place in np.ndindex(self.positions[index].shape):
                position = np.array(self.positions[index][place])
                values = [np.broadcast_to(_value_of(other), self.positions[index].shape)[place] for other in others]
                target._write(position[None], ufunc(gt.take(target.memory.flat, position), *values)[None])
            return None
        assert method == "__call__"
        result = ufunc(*[_value_of(x) for x in inputs])
        if not out:
            given = [x.positions for x in inputs if isinstance(x, ModelArray)]
            return ModelArray.of(result, _axes_in_memory(np.positive(sum(given[1:], start=given[0]))))
        (target,) = out
        kept = target.value
        target._write(target.positions, result if where is True else np.where(where, result, kept))
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        (parts,) = args
        joined = function([part.positions for part in parts], **kwargs)
        return ModelArray.of(function([part.value for part in parts], **kwargs), _axes_in_memory(joined))

    def _binary(ufunc: Any) -> Any:  # type: ignore[misc]
        return (
            lambda self, other: ufunc(self, other),
            lambda self, other: ufunc(other, self),
            lambda self, other: ufunc(self, other, out=self),
        )

    __add__, __radd__, __iadd__ = _binary(np.add)
    __sub__, __rsub__, __isub__ = _binary(np.subtract)
    __mul__, __rmul__, __imul__ = _binary(np.multiply)


def _axes_in_memory(array: Any) -> tuple[int, ...]:
    """The axes of an array, that of the largest steps in memory first."""
    return tuple(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))


def _value_of(x: Any) -> Any:
    return x.value if isinstance(x, ModelArray) else x


SHAPES = [(6,), (2, 3), (3, 2), (4,), (2, 2), (2, 2, 2)]
FUNCTIONS = """
def fade(z):
    z *= 0.75
    return z
def fill(z, new):
    z[...] = new
def mix(z):
    z[0] = z[-1] * 0.5
    z += 0.25
    return z[::-1]
"""
UFUNCS = ["np.sin({a})", "np.tanh({a})", "{a} * {b}", "{a} - {b}", "{a} * 0.5 + 0.25", "{a} * {a}"]


class Program:
    """A program as it is drawn: its lines, and the arrays that are alive, by name, with samples of their values."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        shape = SHAPES[self.rng.integers(len(SHAPES))]
        self.x, self.y = (self.rng.uniform(0.3, 1.2, shape) for _ in range(2))
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"x": self.x.copy(), "y": self.y.copy()}
        self.held: dict[str, Any] = {}  # lists and dictionaries of arrays
        self.scope: dict[str, Any] = {"np": np}
        exec(FUNCTIONS, self.scope)
        self.count = 0
        for _ in range(self.rng.integers(4, 14)):
            getattr(self, f"draw_{self.choose(STATEMENTS)}")()
        arrays = [*self.names, *(place for place, _ in self.held_arrays())]
        names = [f"({name} * {name}).sum() * {0.5 + 0.3 * k}" for k, name in enumerate(arrays)]
        self.lines.append(f"return {' + '.join(names)}")
        self.source = FUNCTIONS + "def program(x, y):\n    " + "\n    ".join(self.lines) + "\n"

    def choose(self, options: Any) -> Any:
        options = list(options)
        return options[self.rng.integers(len(options))]

    def run(self, line: str) -> None:
        """Add a line, and keep the samples up to date."""
        alive = {**self.names, **self.held}
        exec(line, self.scope, alive)
        self.lines.append(line)
        self.held = {name: value for name, value in alive.items() if isinstance(value, (list, dict))}
        arrays = {name: value for name, value in alive.items() if name not in self.held}
        self.names = {n: value if isinstance(value, np.ndarray) else np.asarray(value) for n, value in arrays.items()}

    def held_arrays(self) -> list[tuple[str, Any]]:
        """The arrays that lists and dictionaries hold: how each is written, and its sample."""
        found = []
        for name, values in self.held.items():
            items = values.items() if isinstance(values, dict) else enumerate(values)
            found += [(f"{name}[{key!r}]", value) for key, value in items]
        return found

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def like(self, shape: tuple[int, ...], depth: int = 0) -> str:
        """An expression whose value can be broadcast to `shape`."""
        fitting = [name for name, value in self.names.items() if value.shape == shape]
        kind = self.rng.integers(5)
        if kind == 0 or not fitting:
            return f"{self.rng.uniform(0.2, 1.5):.2f}" if depth else f"{self.choose(self.names)}.sum() * 0.1"
        one = self.choose(fitting)
        if kind < 3:
            return one
        return self.choose(UFUNCS).format(a=one, b=self.choose(fitting))

    def index(self, shape: tuple[int, ...]) -> str:
        """An index into an array of that shape."""
        if not shape:
            return "..."
        if 0 in shape:
            return str(self.choose([":", "...", "::-1", "1:"]))
        length = shape[0]
        options = ["0", "-1", ":", "::-1", "1:", ":-1", "::2", "..."]
        if len(shape) > 1:
            options += [":, 0", ":, ::-1", "..., -1", "0, 1:", "1:, :-1"]
        options += [f"[0, {length - 1}, 0]", f"np.arange({length}) % 2 == 0"]
        return str(self.choose(options))

    def basic_index(self, shape: tuple[int, ...]) -> str:
        while True:
            index = self.index(shape)
            if not index.startswith(("[", "np.")):
                return index

    # -- statements

    def draw_view(self) -> None:
        base = self.choose(self.names)
        shape = self.names[base].shape
        if not shape or len(self.names) > 7:
            return
        looks = [f"{base}[{self.basic_index(shape)}]", f"{base}.T", f"{base}.ravel()", f"{base}.reshape(-1, 1)"]
        look = self.choose(looks)
        if np.ndim(eval(look, {"np": np}, self.names)):
            self.run(f"{self.name()} = {look}")

    def draw_compute(self) -> None:
        if len(self.names) > 7:
            return
        one = self.choose(self.names)
        same = [name for name, value in self.names.items() if value.shape == self.names[one].shape]
        if self.names[one].shape:
            self.run(f"{self.name()} = {self.choose(UFUNCS).format(a=one, b=self.choose(same))}")

    def look(self) -> str:
        """An array that is alive, or a view of it."""
        name = self.choose(self.names)
        shape = self.names[name].shape
        looks = [name, name]
        if shape:
            looks += [f"{name}[{self.basic_index(shape)}]", f"{name}.T", f"{name}.ravel()"]
        look = str(self.choose(looks))
        return look if np.ndim(eval(look, self.scope, self.names)) else name

    def draw_pick(self) -> None:
        """A copy that indices pick, and views of it."""
        name = self.choose(self.names)
        shape = self.names[name].shape
        if not shape or 0 in shape or len(self.names) > 7:
            return
        picks = [f"[0, {shape[0] - 1}, 0]", f"np.arange({shape[0]}) % 2 == 0", f"[[0], [{shape[0] - 1}]]"]
        if len(shape) > 1:
            picks += [
                f":, [{shape[1] - 1}, 0]",
                f"[0, {shape[0] - 1}], [0, {shape[1] - 1}]",
                f"..., [0, {shape[-1] - 1}]",
            ]
        turned = ".T" if len(set(shape)) == 1 and self.rng.integers(2) else ""
        self.run(f"{self.name()} = {name}{turned}[{self.choose(picks)}]")

    def draw_join(self) -> None:
        """The parts of a new array, along a first axis of its own or of theirs."""
        name = self.choose(self.names)
        same = [other for other, value in self.names.items() if value.shape == self.names[name].shape]
        if len(self.names) < 7 and self.names[name].shape:
            self.run(f"{self.name()} = np.{self.choose(['stack', 'concatenate'])}([{name}, {self.choose(same)}])")

    def draw_hold(self) -> None:
        """A list or a dictionary of arrays and views; or another entry of one."""
        if len(self.held) < 2:
            looks = [self.look() for _ in range(self.rng.integers(1, 4))]
            entries = ", ".join(f"'{'abc'[k]}': {look}" for k, look in enumerate(looks))
            self.run(f"{self.name()} = " + self.choose(["[" + ", ".join(looks) + "]", "{" + entries + "}"]))
        else:
            self.run(f"{self.choose(self.held_arrays())[0]} = {self.look()}")

    def draw_held_write(self) -> None:
        """A write to an array that a list or a dictionary holds."""
        if not self.held:
            self.draw_hold()
            return
        place, value = self.choose(self.held_arrays())
        index = self.choose(["", f"[{self.index(value.shape)}]"])
        if "np." in index or "[[" in index or self.rng.integers(2):
            index = index or "[...]"
            picked = np.shape(eval(f"{place}{index}", self.scope, self.held))
            self.run(f"{place}{index} = {self.like(picked)}")
        else:
            picked = np.shape(eval(f"{place}{index}", self.scope, self.held))
            self.run(f"{place}{index} {self.choose(['+=', '-=', '*='])} {self.like(picked, 1)}")

    def draw_held_loop(self) -> None:
        """The same write to all that a list or a dictionary holds."""
        if not self.held:
            self.draw_hold()
            return
        name = self.choose(self.held)
        values = f"{name}.values()" if isinstance(self.held[name], dict) else name
        self.run(f"for one in {values}: {self.choose(['one *= 0.9', 'one[...] = np.sin(one)', 'fade(one)'])}")
        self.names.pop("one", None)

    def draw_call(self) -> None:
        """A function that writes to its argument, and may return a view of it."""
        name = self.choose(self.names)
        if not self.names[name].shape or not self.names[name].shape[0]:
            return
        look = self.look()
        has_rows = np.shape(eval(look, self.scope, self.names))[:1] not in ((), (0,))
        calls = [f"fade({look})", f"fill({name}, {self.like(self.names[name].shape, 1)})"] + [f"mix({look})"] * has_rows
        call = self.choose(calls)
        is_kept = not call.startswith("fill") and len(self.names) < 7 and self.rng.integers(2)
        self.run(f"{self.name()} = {call}" if is_kept else call)

    def draw_copy(self) -> None:
        if len(self.names) < 7:
            self.run(f"{self.name()} = {self.choose(self.names)}.copy()")

    def draw_forget(self) -> None:
        name = self.choose(self.names)
        if len(self.names) > 2 and name not in "xy":
            self.run(f"del {name}")

    def draw_assign(self) -> None:
        name = self.choose(self.names)
        index = self.index(self.names[name].shape)
        picked = np.shape(eval(f"{name}[{index}]", {"np": np}, self.names))
        self.run(f"{name}[{index}] = {self.like(picked)}")

    def draw_shift(self) -> None:
        name = self.choose(self.names)
        if self.names[name].shape and self.names[name].shape[0] > 1:
            self.run(f"{name}[1:] = {name}[:-1] * 0.9" if self.rng.integers(2) else f"{name}[:-1] = {name}[1:]")

    def draw_augment(self) -> None:
        name = self.choose(self.names)
        operator = self.choose(["+=", "-=", "*="])
        if self.rng.integers(2):
            self.run(f"{name} {operator} {self.like(self.names[name].shape, 1)}")
            return
        index = self.basic_index(self.names[name].shape)
        picked = np.shape(eval(f"{name}[{index}]", {"np": np}, self.names))
        self.run(f"{name}[{index}] {operator} {self.like(picked, 1)}")

    def draw_out(self) -> None:
        name = self.choose(self.names)
        other = self.like(self.names[name].shape, 1)
        self.run(self.choose([f"np.sin({name}, out={name})", f"np.multiply({name}, {other}, out={name})"]))

    def draw_at(self) -> None:
        name = self.choose(self.names)
        shape = self.names[name].shape
        if shape and shape[0]:
            self.run(f"np.add.at({name}, [0, {shape[0] - 1}, 0], 0.5)")

    def draw_loop(self) -> None:
        """A loop whose steps write to elements and rows, at places that move with its counter, and to views."""
        names = [name for name, value in self.names.items() if value.shape and value.size]
        if not names:
            return
        lines = [self.draw_step(self.choose(names), names) for _ in range(self.rng.integers(1, 4))]
        count = self.choose([10, 13])
        if self.rng.integers(4) == 0 and self.names[lines[0].split("[")[0]].ndim > 0:
            inner = f"for s in range({self.choose([2, 8])}): {lines[0].replace('(t', '(t + s')}"
            self.run(f"for t in range(8):\n        {inner}")
        else:
            self.run(f"for t in range({count}): {'; '.join(lines)}")
        self.names.pop("t"), self.names.pop("s", None)

    def draw_step(self, name: str, names: list[str]) -> str:
        """One write of a step; what is written stays small."""
        length = self.names[name].shape[0]
        there = f"(t * {self.choose([1, 1, 2])} + {self.rng.integers(3)}) % {length}"
        index = self.choose([there, there, f"({there}) - {length}", self.basic_index(self.names[name].shape)])
        if length > 2 and self.rng.integers(4) == 0:
            index = f"(t + 0) % {length - 1}:(t + 0) % {length - 1} + 2"
        picked = np.shape(eval(f"{name}[{index}]", {"np": np, "t": 0}, self.names))
        fitting = [f"{name}[{index}]"]
        for other in names:
            value = self.names[other]
            if value.shape == picked:
                fitting.append(other)
            if value.shape[1:] == picked:
                fitting.append(f"{other}[(t + {self.rng.integers(3)}) % {value.shape[0]}]")
        one, two = self.choose(fitting), self.choose(fitting)
        new = self.choose(["np.sin({a} + {b})", "np.tanh({a} * {b})", "{a} * 0.5 + {b} * 0.25", "{a} * (0.05 * t)"])
        operator = self.choose(["=", "=", "+=", "*="])
        if operator == "=":
            return f"{name}[{index}] = {new.format(a=one, b=two)}"
        return f"{name}[{index}] {operator} 0.1 * {f'np.cos({one})' if operator == '+=' else f'np.sin({one})'}"


STATEMENTS = (
    "view " * 4
    + "compute " * 2
    + "assign " * 4
    + "augment " * 4
    + "copy forget shift out at loop loop pick join hold held_write held_write held_loop call"
).split()
CHECKS = ["value", "gradient", "tangent", "second", "batch", "compiled", "compiled gradient"]


def function_of(source: str) -> Function:
    """The function that the source of a program defines."""
    scope: dict[str, Any] = {"np": np}
    exec(compile(source, "<program>", "exec"), scope)
    function: Function = scope["program"]
    return function


def differences(program: Program, checks: list[str] = CHECKS) -> list[str]:
    """What of a program is not as the model has it."""
    function = function_of(program.source)
    x, y = program.x, program.y

    def model(x: Any, y: Any) -> Any:
        return function(ModelArray.of(x), ModelArray.of(y)).value

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
    compiled: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "compiled": (lambda: gt.jit(function)(x.copy(), y.copy()), lambda: function(x.copy(), y.copy())),
        "compiled gradient": (
            lambda: gt.jit(gt.value_and_grad(function, both))(x, y),
            lambda: gt.value_and_grad(model, both)(x, y),
        ),
    }
    wrong = []
    for check in checks:
        if check in wanted:
            found, expected = wanted[check](fresh if check == "value" else function), wanted[check](model)
        else:
            found, expected = (run() for run in compiled[check])
        for one, other in zip(_arrays(found), _arrays(expected), strict=True):
            if one.shape != other.shape or not np.allclose(one, other, rtol=1e-7, atol=1e-9, equal_nan=True):
                wrong.append(check)
                break
    return wrong


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
