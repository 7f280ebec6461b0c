"""Views and writes in any order: against NumPy for the values, and against functions without writes for the gradients.

A machine makes tensors and views of them, lets go of some, and writes in every way there is. Beside every tensor it
keeps two twins:

- an array, of its own memory, that is written as NumPy writes (for the value), and
- a tensor that no write ever touches: where the tensor is written the twin is replaced by a new one, made by a function
  of the old (for the gradient).

By the rule, a write succeeds if no other live tensor shares the memory, and is refused otherwise. The machine knows who
shares with whom; after every step all values are compared, and at the end all gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import gradtape as gt

SIZE = 6

VIEWS: dict[str, Any] = {
    "slice": lambda x: x[1:] if x.shape[0] > 1 else x[:1],
    "steps": lambda x: x[::2],
    "backwards": lambda x: x[::-1],
    "element": lambda x: x[-1] if x.ndim > 1 else x[-1:],
    "transpose": lambda x: x.T if x.ndim > 1 else x[:],
    "newaxis": lambda x: x[None] if x.ndim < 3 else x[...],
    "flat": lambda x: x.reshape(-1),
    "columns": lambda x: x.reshape(-1, 1) if x.ndim < 3 else x[0],
}

INDICES: dict[str, Any] = {
    "first": lambda x: (0,),
    "tail": lambda x: (slice(1, None),),
    "all": lambda x: (Ellipsis,),
    "list": lambda x: ([0, x.shape[0] - 1, 0],),
    "mask": lambda x: (np.arange(x.shape[0]) % 2 == 0,),
    "backwards": lambda x: (slice(None, None, -1),),
}


@dataclass(eq=False)
class Entry:
    """A tensor, its twins, and the number of the memory that it shares."""

    tensor: Any
    array: Any
    functional: Any
    memory: int


def functional_set(x: Any, index: Any, value: Any) -> Any:
    """`x[index] = value` without a write: sums of what stays and of what is put in, by matrices of 0 and 1."""
    places = np.arange(x.size).reshape(x.shape)[index]
    if not places.size:
        return x + 0.0
    chosen = np.zeros((x.size, places.size))
    last = {int(place): k for k, place in enumerate(np.ravel(places))}
    for place, k in last.items():
        chosen[place, k] = 1.0
    stays = 1.0 - chosen.sum(1)
    spread = np.broadcast_to(value, places.shape).reshape((places.size,))
    return (stays * x.reshape((x.size,)) + np.matmul(chosen, spread)).reshape(x.shape)


def functional_add_at(x: Any, index: Any, value: Any) -> Any:
    """`np.add.at(x, index, value)` without a write."""
    places = np.arange(x.size).reshape(x.shape)[index]
    counts = np.bincount(np.ravel(places), minlength=x.size).astype(float).reshape(x.shape)
    return x + counts * value


class Writing(RuleBasedStateMachine):
    """All ways to look at tensors and to write into them, in any order."""

    @initialize(shape=st.sampled_from([(SIZE,), (2, 3), (3, 2), (1, SIZE)]))
    def start(self, shape: tuple[int, ...]) -> None:
        self.numbers = np.linspace(0.5, 1.5, SIZE)
        self.source = gt.tensor(self.numbers, requires_grad=True)
        self.shape = shape
        self.entries: list[Entry] = []
        self.memories = 0
        self.compute()

    def keep(self, tensor: Any, array: Any, functional: Any, memory: int | None = None) -> None:
        if memory is None:
            self.memories += 1
            memory = self.memories
        self.entries.append(Entry(tensor, array, functional, memory))

    def pick(self, data: Any) -> Entry:
        return self.entries[data.draw(st.integers(0, len(self.entries) - 1), label="entry")]

    # -- making tensors

    @precondition(lambda self: len(self.entries) < 6)
    @rule()
    def compute(self) -> None:
        """A new tensor, which shares nothing."""
        factor = 1.0 + self.memories
        make = lambda x: x.reshape(self.shape) * factor
        self.keep(make(self.source), make(self.numbers), make(self.source))

    @precondition(lambda self: 0 < len(self.entries) < 6)
    @rule(data=st.data(), kind=st.sampled_from(sorted(VIEWS)))
    def view(self, data: Any, kind: str) -> None:
        """A view of a tensor, or of a view; the array twin keeps to itself, so that no write goes through it."""
        entry = self.pick(data)
        look = VIEWS[kind]
        tensor = look(entry.tensor)
        shares = np.may_share_memory(tensor._array, entry.tensor._array)
        self.keep(tensor, np.array(look(entry.array)), look(entry.functional), entry.memory if shares else None)

    @precondition(lambda self: len(self.entries) > 1)
    @rule(data=st.data())
    def forget(self, data: Any) -> None:
        """A tensor is let go of: from then on it is no obstacle."""
        self.entries.remove(self.pick(data))

    # -- writing

    def write(self, entry: Entry, change: Any, array: Any, functional: Any) -> None:
        """Write into a tensor; refused exactly if another tensor shares its memory, and then nothing has changed."""
        shared = sum(other.memory == entry.memory for other in self.entries) > 1
        before = entry.tensor
        try:
            same = change(entry.tensor)
        except gt.MutationError:
            assert shared
            assert entry.tensor is before
            return
        assert not shared
        assert same is None or same is before
        self.memories += 1
        entry.memory = self.memories
        entry.array = array(entry.array)
        entry.functional = functional(entry.functional)

    @precondition(lambda self: self.entries)
    @rule(data=st.data(), kind=st.sampled_from(sorted(INDICES)), tracked=st.booleans())
    def set_elements(self, data: Any, kind: str, tracked: bool) -> None:
        """`x[i] = v`, of a number and of a tensor that has a gradient of its own."""
        entry = self.pick(data)
        index = INDICES[kind](entry.array)
        value = self.source[2] * 0.7 if tracked else 0.25
        number = self.numbers[2] * 0.7 if tracked else 0.25

        def write(x: Any) -> None:
            x[index] = value

        def write_array(x: Any) -> Any:
            x = x.copy()
            x[index] = number
            return x

        self.write(entry, write, write_array, lambda x: functional_set(x, index, value))

    @precondition(lambda self: self.entries)
    @rule(data=st.data(), kind=st.sampled_from(["add", "multiply", "subtract"]))
    def augment(self, data: Any, kind: str) -> None:
        """`x += v` and its relatives."""
        method = {"add": "__iadd__", "multiply": "__imul__", "subtract": "__isub__"}[kind]
        value, number = self.source[1] * 0.9, self.numbers[1] * 0.9
        operation = getattr(np, kind)
        self.write(
            self.pick(data),
            lambda x: getattr(x, method)(value),
            lambda x: operation(x, number),
            lambda x: operation(x, value),
        )

    @precondition(lambda self: self.entries)
    @rule(data=st.data(), masked=st.booleans())
    def write_out(self, data: Any, masked: bool) -> None:
        """`np.sin(x, out=x)`, with and without `where`."""
        entry = self.pick(data)
        mask = (np.arange(entry.array.size) % 2 == 0).reshape(entry.array.shape) if masked else True
        self.write(
            entry,
            lambda x: np.sin(x, out=x, where=mask),
            lambda x: np.where(mask, np.sin(x), x),
            lambda x: np.where(mask, np.sin(x), x) if masked else np.sin(x),
        )

    @precondition(lambda self: self.entries)
    @rule(data=st.data(), kind=st.sampled_from(sorted(INDICES)))
    def ufunc_at(self, data: Any, kind: str) -> None:
        """`np.add.at(x, i, v)`, which counts what is named twice."""
        entry = self.pick(data)
        index = INDICES[kind](entry.array)
        value, number = self.source[3] * 0.3, self.numbers[3] * 0.3

        def write_array(x: Any) -> Any:
            x = x.copy()
            np.add.at(x, index, number)
            return x

        self.write(
            entry, lambda x: np.add.at(x, index, value), write_array, lambda x: functional_add_at(x, index, value)
        )

    @precondition(lambda self: self.entries)
    @rule(data=st.data())
    def copy_over(self, data: Any) -> None:
        """`np.copyto(x, v)` replaces everything."""
        value, number = self.source[4], self.numbers[4]
        self.write(
            self.pick(data),
            lambda x: np.copyto(x, value),
            lambda x: np.full_like(x, number),
            lambda x: 0.0 * x + value,
        )

    @precondition(lambda self: 0 < len(self.entries) < 6)
    @rule(data=st.data(), kind=st.sampled_from(sorted(INDICES)))
    def set_without_writing(self, data: Any, kind: str) -> None:
        """`gt.at(x)[i].set(v)` is a new tensor and never refused, whoever shares the memory."""
        entry = self.pick(data)
        index = INDICES[kind](entry.array)
        value, number = self.source[0] * 0.8, self.numbers[0] * 0.8
        array = entry.array.copy()
        array[index] = number
        self.keep(gt.at(entry.tensor)[index].set(value), array, functional_set(entry.functional, index, value))

    # -- what has to hold

    @invariant()
    def values_are_numpys(self) -> None:
        """Every tensor has the value of its array twin: no write has shown elsewhere, none has got lost."""
        for entry in getattr(self, "entries", ()):
            np.testing.assert_allclose(entry.tensor.numpy(), entry.array, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(entry.functional.numpy(), entry.array, rtol=1e-12, atol=1e-12)

    def teardown(self) -> None:
        """Every tensor has the gradient of its functional twin."""
        for entry in getattr(self, "entries", ()):
            weights = np.cos(1.0 + np.arange(entry.array.size)).reshape(entry.array.shape)
            (found,) = gt.gradients((entry.tensor * weights).sum(), [self.source], retain_graph=True)
            (expected,) = gt.gradients((entry.functional * weights).sum(), [self.source], retain_graph=True)
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10, atol=1e-10)


TestWriting = Writing.TestCase
TestWriting.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
