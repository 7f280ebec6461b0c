"""Random programs of views and writes: the source of a function of two arrays, in NumPy as it is written.

Views of views, element and slice assignment, operators in place, `out=`, `ufunc.at`, masks, overlapping copies, swapped
rows and names, views that lists and dictionaries hold, functions that write to their argument, numbers with several
names, histories of numbers, branches, and loops of such statements, long enough to be made loops of the compiled
program. Every other program uses the drop-in namespace: it creates buffers, fills them, and makes arrays of numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
    """A program as it is drawn: its lines, and what is alive, by name, with samples of the values."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        shape = SHAPES[self.rng.integers(len(SHAPES))]
        self.x, self.y = (self.rng.uniform(0.3, 1.2, shape) for _ in range(2))
        self.is_drop_in = bool(seed % 2)  # its np is gradtape.numpy
        self.has_branch = False
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"x": self.x.copy(), "y": self.y.copy()}
        self.numbers: dict[str, Any] = {}
        self.held: dict[str, Any] = {}  # lists and dictionaries of arrays
        self.histories: dict[str, Any] = {}  # lists of numbers
        self.scope: dict[str, Any] = {"np": np}
        exec(FUNCTIONS, self.scope)
        self.count = 0
        statements = STATEMENTS + CREATING * self.is_drop_in
        for _ in range(self.rng.integers(4, 16)):
            getattr(self, f"draw_{self.choose(statements)}")()
        self.lines.append(f"return {' + '.join(self.results())}")
        self.source = FUNCTIONS + "def program(x, y):\n    " + "\n    ".join(self.lines) + "\n"

    def results(self) -> list[str]:
        """The terms of what the program returns: all that is alive at its end."""
        arrays = [*self.names, *(place for place, _ in self.held_arrays())]
        terms = [f"({name} * {name}).sum() * {0.5 + 0.3 * k:.1f}" for k, name in enumerate(arrays)]
        terms += [f"{name} * {name} * {0.4 + 0.2 * k:.1f}" for k, name in enumerate(self.numbers)]
        terms += [f"sum(k * n for k, n in enumerate({name}, 1)) * 0.1" for name in self.histories]
        return terms

    def choose(self, options: Any) -> Any:
        options = list(options)
        return options[self.rng.integers(len(options))]

    def alive(self) -> dict[str, Any]:
        return {**self.names, **self.numbers, **self.held, **self.histories}

    def run(self, line: str) -> None:
        """Add a line, and keep the samples up to date."""
        alive = self.alive()
        exec(line, self.scope, alive)
        self.lines.append(line)
        self.names, self.numbers, self.held, self.histories = {}, {}, {}, {}
        for name, value in alive.items():
            if isinstance(value, np.ndarray):
                self.names[name] = value
            elif isinstance(value, list) and not any(isinstance(one, np.ndarray) for one in value):
                self.histories[name] = value
            elif isinstance(value, (list, dict)):
                self.held[name] = value
            elif isinstance(value, float):
                self.numbers[name] = value

    def forget(self, *names: str) -> None:
        """What a loop left behind is not read afterwards."""
        for name in names:
            self.names.pop(name, None)
            self.numbers.pop(name, None)

    def shape_of(self, expression: str) -> tuple[int, ...]:
        return np.shape(eval(expression, {**self.scope, "t": 0}, self.alive()))

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
        kind = self.rng.integers(6)
        if kind == 5 and self.numbers:
            return self.number()
        if kind == 0 or not fitting:
            return f"{self.rng.uniform(0.2, 1.5):.2f}" if depth else f"{self.choose(self.names)}.sum() * 0.1"
        one = self.choose(fitting)
        if kind < 3:
            return str(one)
        return str(self.choose(UFUNCS).format(a=one, b=self.choose(fitting)))

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

    def rows(self) -> list[str]:
        """The arrays that have elements."""
        return [name for name, value in self.names.items() if value.shape and value.size]

    # -- views, copies and what is computed

    def draw_view(self) -> None:
        base = self.choose(self.names)
        shape = self.names[base].shape
        if not shape or len(self.names) > 7:
            return
        looks = [f"{base}[{self.basic_index(shape)}]", f"{base}.T", f"{base}.ravel()", f"{base}.reshape(-1, 1)"]
        look = self.choose(looks)
        if self.shape_of(look):
            self.run(f"{self.name()} = {look}")

    def draw_rearrange(self) -> None:
        """A view by a function of NumPy."""
        base = self.choose(self.names)
        shape = self.names[base].shape
        if not shape or len(self.names) > 7:
            return
        looks = [f"np.flip({base})", f"np.squeeze({base})", f"{base}[None]", f"{base}[..., None]", f"{base}[0:1]"]
        looks += [f"{base}.swapaxes(0, -1)", f"np.moveaxis({base}, 0, -1)", f"np.expand_dims({base}, 0)"]
        if len(shape) > 1:
            looks += [f"np.rot90({base})", f"np.fliplr({base})"]
        if len(shape) == 2 and shape[0] == shape[1]:
            looks += [f"np.einsum('ii->i', {base})"] * 3
        look = self.choose(looks)
        if self.shape_of(look):
            self.run(f"{self.name()} = {look}")

    def draw_zero_dimensional(self) -> None:
        """A view without axes of one element, which can be written to as a number cannot."""
        names = self.rows()
        if names and len(self.names) < 7:
            name = self.choose(names)
            self.run(f"{self.name()} = {name}[{'0, ' * self.names[name].ndim}...]")

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
        return look if self.shape_of(look) else name

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
        """The parts of a new array, along a first axis of its own or of theirs; or numbers as an array."""
        name = self.choose(self.names)
        same = [other for other, value in self.names.items() if value.shape == self.names[name].shape]
        if len(self.names) > 6:
            return
        if self.numbers and self.rng.integers(2):
            self.run(f"{self.name()} = np.stack([{self.number()}, {self.number()}, {self.number()}])")
        elif self.names[name].shape:
            self.run(f"{self.name()} = np.{self.choose(['stack', 'concatenate'])}([{name}, {self.choose(same)}])")

    def draw_copy(self) -> None:
        if len(self.names) < 7:
            self.run(f"{self.name()} = {self.choose(self.names)}.copy()")

    def draw_forget(self) -> None:
        name = self.choose([*self.names, *self.numbers])
        if len(self.names) > 2 and name not in "xy":
            self.run(f"del {name}")

    # -- lists, dictionaries and functions

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
            self.run(f"{place}{index} = {self.like(self.shape_of(place + index))}")
        else:
            self.run(f"{place}{index} {self.operator()} {self.like(self.shape_of(place + index), 1)}")

    def draw_held_loop(self) -> None:
        """The same write to all that a list or a dictionary holds."""
        if not self.held:
            self.draw_hold()
            return
        name = self.choose(self.held)
        values = f"{name}.values()" if isinstance(self.held[name], dict) else name
        self.run(f"for one in {values}: {self.choose(['one *= 0.9', 'one[...] = np.sin(one)', 'fade(one)'])}")
        self.forget("one")

    def draw_call(self) -> None:
        """A function that writes to its argument, and may return a view of it."""
        name = self.choose(self.names)
        if not self.names[name].shape or not self.names[name].shape[0]:
            return
        look = self.look()
        has_rows = self.shape_of(look)[:1] not in ((), (0,))
        calls = [f"fade({look})", f"fill({name}, {self.like(self.names[name].shape, 1)})"] + [f"mix({look})"] * has_rows
        call = self.choose(calls)
        is_kept = not call.startswith("fill") and len(self.names) < 7 and self.rng.integers(2)
        self.run(f"{self.name()} = {call}" if is_kept else call)

    # -- writes

    def operator(self) -> str:
        return str(self.choose(["+=", "-=", "*="]))

    def draw_assign(self) -> None:
        name = self.choose(self.names)
        index = self.index(self.names[name].shape)
        self.run(f"{name}[{index}] = {self.like(self.shape_of(f'{name}[{index}]'))}")

    def draw_shift(self) -> None:
        name = self.choose(self.names)
        if self.names[name].shape and self.names[name].shape[0] > 1:
            self.run(f"{name}[1:] = {name}[:-1] * 0.9" if self.rng.integers(2) else f"{name}[:-1] = {name}[1:]")

    def draw_augment(self) -> None:
        name = self.choose(self.names)
        if self.rng.integers(2):
            self.run(f"{name} {self.operator()} {self.like(self.names[name].shape, 1)}")
            return
        index = self.basic_index(self.names[name].shape)
        self.run(f"{name}[{index}] {self.operator()} {self.like(self.shape_of(f'{name}[{index}]'), 1)}")

    def draw_out(self) -> None:
        name = self.choose(self.names)
        other = self.like(self.names[name].shape, 1)
        self.run(self.choose([f"np.sin({name}, out={name})", f"np.multiply({name}, {other}, out={name})"]))

    def draw_at(self) -> None:
        name = self.choose(self.names)
        shape = self.names[name].shape
        if shape and shape[0]:
            self.run(f"np.add.at({name}, [0, {shape[0] - 1}, 0], 0.5)")

    def draw_swap(self) -> None:
        """Elements or rows in each other's places (rows are views, so that one of them is lost), or names."""
        names = [name for name in self.rows() if self.names[name].shape[0] > 1]
        if not names:
            return
        name = self.choose(names)
        same = self.choose([other for other in names if self.names[other].shape == self.names[name].shape])
        swaps = [
            f"{name}[0], {name}[-1] = {name}[-1], {name}[0]",
            f"{name}[[0, -1]] = {name}[[-1, 0]]",
            f"{name}, {same} = {same}, {name}",
        ]
        self.run(self.choose(swaps))

    def draw_overwrite(self) -> None:
        """All of an array, its diagonal or some of its elements, by a function of NumPy."""
        name = self.choose(self.names)
        shape = self.names[name].shape
        new = self.like(shape, 1)
        calls = [f"np.copyto({name}, {new})", f"{name}.fill({self.like((), 1)})"]
        if len(shape) == 2 and shape[0] == shape[1]:
            calls += [f"np.fill_diagonal({name}, {self.like((), 1)})"] * 2
        if shape and 0 not in shape:
            calls += [f"np.put({name}, [0, -1], {self.like((), 1)})"]
        self.run(self.choose(calls))

    def draw_mask(self) -> None:
        """A write to the elements, or a choice of them, by what they are."""
        name = self.choose(self.names)
        mask = f"{name} > {self.rng.uniform(0.2, 0.9):.2f}"
        if not self.names[name].shape:
            return
        lines = [
            f"{name}[{mask}] = {self.like((), 1)}",
            f"np.copyto({name}, {self.like(self.names[name].shape, 1)}, where={mask})",
            f"np.multiply({name}, 0.5, out={name}, where={mask})",
        ]
        if len(self.names) < 7:
            lines.append(f"{self.name()} = np.where({mask}, {name}, {self.like(self.names[name].shape, 1)})")
        self.run(self.choose(lines))

    def draw_branch(self) -> None:
        """A write or another number if a number is large, or while it is."""
        self.has_branch = True
        name = self.choose(self.names)
        bound = f"{self.rng.uniform(0.2, 1.5):.2f}"
        lines = [f"if {name}.sum() > {bound}: {name} *= 0.5"]
        if self.numbers:
            number = self.number()
            lines += [
                f"if {number} > {bound}: {name}[...] = {number}",
                f"{number} = {number} * 0.5 if {number} > {bound} else {number} + 0.1",
                f"while {number} > {bound}: {number} = {number} * 0.7; {name} *= 0.9",
            ]
        self.run(self.choose(lines))

    # -- numbers

    def number(self) -> str:
        """A number that is alive, or an element, in parentheses where it is computed."""
        if self.numbers and self.rng.integers(4):
            return str(self.choose(self.numbers))
        names = self.rows()
        if not names:
            return "0.5" if not self.numbers else str(self.choose(self.numbers))
        return self.element(self.choose(names))

    def element(self, name: str) -> str:
        places = ["0" if self.rng.integers(2) else "-1" for _ in self.names[name].shape]
        return f"{name}[{', '.join(places)}]"

    def draw_number(self) -> None:
        """An element, a sum, another name of a number, or what is computed of numbers."""
        names = self.rows()
        if len(self.numbers) > 4 or not names:
            return
        name = self.choose(names)
        options = [self.element(name), f"{name}.sum() * 0.1"]
        if self.numbers:
            one, other = self.choose(self.numbers), self.choose(self.numbers)
            options += [one, one, f"np.sin({one})", f"{one} * 0.5 + {other}", f"{one} * {self.element(name)}"]
        self.run(f"{self.name()} = {self.choose(options)}")

    def draw_number_augment(self) -> None:
        """A number in place of another one: other names of that keep it."""
        if not self.numbers:
            self.draw_number()
            return
        number = self.choose(self.numbers)
        new = self.choose([f"0.1 * {self.number()}", "0.25", f"{self.choose(self.names)}.sum() * 0.1"])
        self.run(f"{number} {self.operator()} {new}")

    def draw_history(self) -> None:
        """A list of what a number was in each step."""
        names = self.rows()
        if not names or len(self.histories) > 1:
            return
        name, history, total = self.choose(names), self.name(), self.name()
        is_constant = self.rng.integers(2) and self.is_drop_in  # NumPy's own arrays of constants take no tensors
        start = "0.0" if is_constant else self.number()
        self.run(f"{history}, {total} = [], {start}")
        length, size = len(self.names[name]), self.names[name].size
        steps = [
            f"for v in {name}.ravel(): {total} += 0.2 * v; {history}.append({total})",
            f"for t in range(9): {total} = {total} * 0.8 + 0.1 * {name}.ravel()[t % {size}]; {history}.append({total})",
            f"for t in range(11): {history}.append({total}); {total} *= 0.9; {name}[t % {length}] += {total}",
            f"for v in {name}: {history}.append((v * {total}).sum()); v *= 0.9" if self.names[name].ndim > 1 else "",
        ]
        self.run(self.choose([step for step in steps if step]))
        self.forget("t", "v")

    def draw_recurrence(self) -> None:
        """Two numbers that follow from each other, step by step, and are written on the way."""
        names = self.rows()
        if not names or len(self.numbers) > 3:
            return
        name, one, two = self.choose(names), self.name(), self.name()
        self.run(f"{one}, {two} = {self.number()}, {self.number()}")
        length = len(self.names[name])
        writes = [
            f"{name}[t % {length}] = {one}",
            f"{name}[t % {length}] *= 0.9 * np.cos({two})",
            f"{name} += 0.01 * {one}",
        ]
        self.run(f"for t in range(12): {one}, {two} = {two}, np.sin({one}) * 0.5 + {two} * 0.3; {self.choose(writes)}")
        self.forget("t")

    # -- loops

    def draw_loop(self) -> None:
        """A loop whose steps write to elements and rows, at places that move with its counter, and to views."""
        names = self.rows()
        if not names:
            return
        lines = [self.draw_step(self.choose(names), names) for _ in range(self.rng.integers(1, 4))]
        count = self.choose([10, 13])
        if self.rng.integers(4) == 0 and self.names[lines[0].split("[")[0]].ndim > 0:
            inner = f"for s in range({self.choose([2, 8])}): {lines[0].replace('(t', '(t + s')}"
            self.run(f"for t in range(8):\n        {inner}")
        else:
            self.run(f"for t in range({count}): {'; '.join(lines)}")
        self.forget("t", "s")

    def draw_step(self, name: str, names: list[str]) -> str:
        """One write of a step; what is written stays small."""
        length = self.names[name].shape[0]
        there = f"(t * {self.choose([1, 1, 2])} + {self.rng.integers(3)}) % {length}"
        index = self.choose([there, there, f"({there}) - {length}", self.basic_index(self.names[name].shape)])
        if length > 2 and self.rng.integers(4) == 0:
            index = f"(t + 0) % {length - 1}:(t + 0) % {length - 1} + 2"
        picked = self.shape_of(f"{name}[{index}]")
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

    def draw_two_buffers(self) -> None:
        """Steps that read one buffer and write to the other, whose names change places after each."""
        names = self.rows()
        if not names:
            return
        name = self.choose(names)
        if self.names[name].shape[0] < 2:
            return
        same = [other for other in names if self.names[other].shape == self.names[name].shape and other != name]
        other = self.choose(same) if same else f"{self.name()}"
        if not same:
            self.run(f"{other} = {name}.copy()")
        step = self.choose(
            [
                f"{other}[1:] = 0.5 * {name}[:-1] + 0.4 * {name}[1:]",
                f"{other}[...] = np.sin({name}) * 0.9 + 0.1 * {other}",
                f"{other}[:-1] += 0.2 * {name}[1:]; {other} *= 0.8",
            ]
        )
        self.run(f"for t in range({self.choose([9, 12])}): {step}; {name}, {other} = {other}, {name}")
        self.forget("t")

    def draw_rows(self) -> None:
        """A loop over the rows of an array, which are views of it (or its elements, which are numbers)."""
        names = self.rows()
        if not names:
            return
        name = self.choose(names)
        if self.names[name].ndim > 1:
            self.run(
                f"for row in {name}: {self.choose(['row *= 0.9', 'row[0] = row[-1] * 0.5', 'row += row.sum() * 0.1'])}"
            )
        else:
            self.run(f"for row in {name}: row *= 0.9; {name}[0] += row * 0.1")
        self.forget("row")

    # -- buffers and arrays of numbers, by the drop-in namespace

    def draw_create(self) -> None:
        """A new array: zeros like another one, a full one, or one that is made of numbers or arrays."""
        if len(self.names) > 6:
            return
        name = self.choose(self.names)
        shape = self.names[name].shape
        one, two, three = self.number(), self.number(), self.number()
        options = [
            f"np.zeros({shape})",
            f"np.zeros_like({name})",
            f"np.full({shape}, {one})",
            f"np.array([{one}, {two}, 0.5])",
            f"np.array([[{one}, {two}], [0.25, {three}]])",
            f"np.array([{name}, {name}])",
        ]
        self.run(f"{self.name()} = {self.choose(options)}")

    def draw_fill(self) -> None:
        """A buffer whose rows are filled step by step, each from those before."""
        names = self.rows()
        if not names or len(self.names) > 5:
            return
        name, buffer = self.choose(names), self.name()
        shape = self.names[name].shape
        if self.rng.integers(2):
            self.run(f"{buffer} = np.zeros({(11, *shape)})")
            self.run(f"{buffer}[0] = {name}")
            steps = [
                f"{buffer}[t + 1] = np.sin({buffer}[t]) * 0.9 + 0.1",
                f"{buffer}[t + 1] = {buffer}[t] * 0.8 + 0.1 * {name}",
                f"{buffer}[t + 1] += {buffer}[t] * 0.5; {buffer}[t] *= 0.9",
                f"{buffer}[t + 1, ...] = {buffer}[t] - 0.1 * {buffer}[t - 1]",
            ]
            self.run(f"for t in range(10): {self.choose(steps)}")
        else:
            new = self.like(shape, 1)
            self.run(f"{buffer} = np.empty_like({name})")
            self.run(f"{buffer}[...] = {new}")
            self.run(f"for t in range({shape[0]}): {buffer}[t] = np.sin({name}[t]) + 0.1 * {buffer}[t - 1]")
        self.forget("t")


STATEMENTS = (
    "view " * 4
    + "compute " * 2
    + "assign " * 4
    + "augment " * 4
    + "number " * 3
    + "number_augment " * 2
    + "copy forget shift out at loop loop pick join hold held_write held_write held_loop call rearrange rearrange "
    + "zero_dimensional swap overwrite mask branch history recurrence two_buffers rows"
).split()
CREATING = ["create", "create", "create", "fill", "fill"]
