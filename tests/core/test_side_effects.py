"""`StateBefore`: what a run of a function has changed is found, and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.side_effects import StateBefore

TOTAL: Any = 0.0
NEW: Any


class Held:
    def __init__(self) -> None:
        self.value = 1.0


def state() -> tuple[dict[str, Any], dict[str, Callable[[], Any]]]:
    """Objects that functions change, and the functions."""
    held, kept, tensor, array = Held(), [1.0], gt.tensor([1.0, 2.0]), np.zeros(2)
    view, random, pair = tensor[1:], np.random.default_rng(0), (np.ones(1), 2)
    name = 1.0

    def attribute() -> None:
        held.value, held.other = 2.0, 3.0  # type: ignore[attr-defined]
        Held.shared = 1.0  # type: ignore[attr-defined]

    def variable() -> None:
        nonlocal name
        name = later = 2.0

        def never_called() -> None:
            nonlocal later
            later = 3.0

    def module_variable() -> None:
        global TOTAL, NEW
        TOTAL = NEW = 5.0

    def write_to_view() -> None:
        view[...] = 7.0

    def write_to_array() -> None:
        array[0] = 3.0

    def write_in_tuple() -> None:
        pair[0][0] = random.normal()

    functions = [attribute, variable, module_variable, write_to_view, write_to_array, write_in_tuple]
    functions.append(lambda: kept.append(2.0))

    def read() -> Any:
        numbers = [*tensor.tolist(), *array.tolist(), *kept, *pair[0], TOTAL, name]
        names = [*vars(held).items(), *(name for name in ("NEW", "shared") if name in globals() or hasattr(Held, name))]
        return names, numbers, random.bit_generator.state

    return {"read": read}, dict(enumerate(functions))  # type: ignore[arg-type]


@pytest.mark.parametrize("index", range(7))
def test_changes_are_found_and_put_back(index: int) -> None:
    """Attributes, names, elements of arrays and tensors, items of lists, and the position of a generator."""
    reading, functions = state()
    read, function = reading["read"], functions[index]  # type: ignore[index]
    was = read()
    before = StateBefore([function])
    assert not before.restore()
    function()
    assert read() != was
    assert before.restore()
    assert read() == was
    assert not before.restore()


def test_names_without_a_value_and_iterators() -> None:
    """A name that is not bound yet is left alone; an iterator is named, because it cannot be put back."""
    later: Any

    def assigns() -> None:
        nonlocal later
        later = 2.0

    assert not StateBefore([assigns]).has_iterators
    later = iter([1.0])
    assert StateBefore([lambda: later]).has_iterators
    assert StateBefore([abs, later]).has_iterators
