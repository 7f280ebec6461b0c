"""bind_state: a function that runs again later reads the state of the moment when it was bound."""

from __future__ import annotations

import functools
import sys
import types
from collections import deque, namedtuple
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import kept_state
from gradtape.core.kept_state import bind_state, running_now
from gradtape.errors import MutationError

SETTINGS = {"rate": 1.0}


class Model:
    """An object with a property, a method that calls another one, and a class attribute."""

    scale = 1.0

    def __init__(self, rate: Any) -> None:
        self.rate = rate
        self.unread = 0.0

    @property
    def doubled(self) -> Any:
        return 2.0 * self.rate

    @functools.cached_property
    def cached(self) -> Any:
        return self.rate

    @staticmethod
    def factor() -> float:
        return Model.scale

    def inner(self) -> Any:
        return self.rate

    def __call__(self) -> Any:
        return self.inner()


class Slots:
    """An object without a dictionary."""

    __slots__ = ("rate", "unset")

    rate: float
    unset: float


def from_settings() -> float:
    return SETTINGS["rate"]


def test_attributes_are_kept_and_put_back() -> None:
    """An attribute is what it was while the function runs, and what it is afterwards."""
    model = Model(1.0)
    readers = [
        lambda: model.rate,
        lambda: model.doubled / 2.0,
        lambda: model(),
        model.inner,
        model,
        functools.partial(getattr, model, "rate"),
        lambda: getattr(model, "ra" + "te"),
        lambda model=model: model.rate,
    ]
    early = [bind_state(reader) for reader in readers]
    model.rate = 5.0
    assert [function() for function in early] == [1.0] * len(early)
    assert model.rate == 5.0


def test_attributes_of_slots_classes_and_modules() -> None:
    """What is no item of a dictionary of the object's own is kept, too."""
    slots = Slots()
    slots.rate = 1.0
    module = types.ModuleType("settings_of_a_user")
    module.__file__ = __file__
    module.rate = 1.0  # type: ignore[attr-defined]
    module.function = lambda: module.rate  # type: ignore[attr-defined]
    early = [
        bind_state(lambda: slots.rate),
        bind_state(lambda: Model.scale),
        bind_state(lambda: Model(0.0).factor()),
        bind_state(lambda: Model(0.0).scale),
        bind_state(lambda: module.rate),
        bind_state(lambda: module.function()),
    ]
    try:
        slots.rate = Model.scale = module.rate = 5.0  # type: ignore[attr-defined]
        assert [function() for function in early] == [1.0] * len(early)
        assert (slots.rate, Model.scale, module.rate) == (5.0, 5.0, 5.0)
    finally:
        Model.scale = 1.0


def test_an_attribute_of_the_function_itself() -> None:
    """Functions have attributes, and defaults that can be replaced."""

    def reader(x: float = 1.0, *, y: float = 1.0) -> float:
        return x * y * reader.rate  # type: ignore[attr-defined,no-any-return]

    reader.rate = 1.0  # type: ignore[attr-defined]
    holder = [reader]
    early = bind_state(lambda: holder[0]())
    reader.rate = 5.0  # type: ignore[attr-defined]
    reader.__kwdefaults__ = {"y": 5.0}
    reader.__defaults__ = (5.0,)
    assert (early(), reader()) == (1.0, 125.0)


def test_items_of_containers() -> None:
    """Lists, dictionaries, sets and deques get their items back, and their lengths."""
    listed, mapped, unique, queue = [1.0], {"rate": 1.0}, {1.0}, deque([1.0])
    nested = {"deep": [Model([1.0])]}
    early = [
        bind_state(lambda: listed[-1]),
        bind_state(lambda: mapped["rate"]),
        bind_state(lambda: max(unique)),
        bind_state(lambda: queue[-1]),
        bind_state(lambda: nested["deep"][0].rate[0]),
        bind_state(from_settings),
    ]
    listed.append(5.0)
    mapped["rate"] = SETTINGS["rate"] = nested["deep"][0].rate[0] = 5.0
    unique.add(5.0)
    queue.append(5.0)
    try:
        assert [function() for function in early] == [1.0] * len(early)
        assert (listed, mapped, unique) == ([1.0, 5.0], {"rate": 5.0}, {1.0, 5.0})
        assert (queue, nested["deep"][0].rate) == (deque([1.0, 5.0]), [5.0])
    finally:
        SETTINGS["rate"] = 1.0


def test_an_attribute_that_is_gone_is_there_again() -> None:
    """An attribute that was deleted is put back for the run only."""
    model = Model(1.0)
    early = bind_state(lambda: model.rate)
    del model.rate
    assert early() == 1.0
    assert not hasattr(model, "rate")


Pair = namedtuple("Pair", "left right")


def test_elements_of_arrays_and_versions_of_tensors() -> None:
    """An array that is written to has its elements back, wherever the function finds it."""
    for make in (np.ones, lambda n: gt.tensor(np.ones(n))):
        value: Any = make(2)
        held, pair = [value], Pair(value, 0.0)
        early = [
            bind_state(lambda value=value: float(value[0])),
            bind_state(lambda held=held: float(held[0][0])),
            bind_state(lambda pair=pair: float(pair.left[0])),
            bind_state(functools.partial(lambda value: float(value[0]), value)),
            bind_state(functools.partial(lambda x, value: float(value[0]), 0.0, value=value)),
        ]
        value[0] = 5.0
        assert [function() for function in early] == [1.0] * len(early)
        assert float(value[0]) == 5.0


def test_what_a_run_writes_to_a_restored_array_is_not_seen_by_the_next() -> None:
    """Each run gets elements of its own."""
    buffer = np.ones(2)

    def reader() -> float:
        buffer[0] += 1.0
        return float(buffer[0])

    early = bind_state(reader)
    buffer[0] = 7.0
    assert [early(), early()] == [2.0, 2.0]
    assert buffer[0] == 7.0


def test_a_large_array_that_changed_is_refused() -> None:
    """Large arrays are not copied: a change of one is an explained error."""
    large = np.ones(10_000)
    early = bind_state(lambda: float(large[0]))
    assert early() == 1.0
    large[:] = 5.0
    with pytest.raises(MutationError, match=r"GT309.*shape \(10000,\)"):
        early()


def test_a_function_that_reads_nothing_that_changes_is_itself() -> None:
    """There is no cost for functions of their arguments."""

    def plain(x: Any) -> Any:
        return np.sin(x)

    assert bind_state(plain) is plain
    assert bind_state(np.sin) is np.sin
    held = [1.0]
    early = bind_state(lambda: held[0])
    assert bind_state(early) is early


def test_names_that_are_assigned_to_stay_shared() -> None:
    """A counter that the function increases counts on."""
    count, held = 0, [1.0]

    def counted() -> float:
        nonlocal count
        count += 1
        return held[0]

    early = bind_state(counted)
    held[0] = 5.0
    assert (early(), early(), count) == (1.0, 1.0, 2)


def test_side_effects() -> None:
    """In the block of `running_now` the function runs as it is; afterwards, what it adds stays."""
    seen: list[float] = []
    counts = {"first": 0.0}
    names: set[float] = set()

    def reader(x: float) -> int:
        seen.append(x)
        counts.setdefault(str(x), x)
        counts["first"] += 1.0
        names.add(x)
        return len(seen)

    early = bind_state(reader)
    with running_now(early), running_now(np.sin):
        assert [early(1.0), early(2.0)] == [1, 2]
    assert [early(3.0), early(4.0)] == [1, 1]
    assert seen == [1.0, 2.0, 3.0, 4.0]
    assert counts == {"first": 2.0, "1.0": 1.0, "2.0": 2.0, "3.0": 3.0, "4.0": 4.0}
    assert names == {1.0, 2.0, 3.0, 4.0}


def test_objects_of_libraries_and_gradtape_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule's own function is looked into; what else gradtape's objects hold is not."""
    held = [1.0]
    custom = gt.custom_vjp(lambda x: held[0] * x)
    custom.defvjp(lambda x: (held[0] * x, None), lambda _, g: (g,))
    early = bind_state(lambda x: custom(x))
    variable = gt.Variable(1.0)
    reader = bind_state(lambda: float(variable) + sys.maxsize * 0)
    held[0] = 5.0
    variable.assign(5.0)
    assert (early(2.0), reader()) == (2.0, 5.0)
    monkeypatch.setattr(kept_state, "OBJECTS_AT_MOST", 0)
    assert bind_state(lambda: held[0])() == 5.0


def test_objects_in_arrays_are_read_as_they_are() -> None:
    """Arrays of objects have no elements of their own."""
    objects = np.array([None], dtype=object)
    early = bind_state(lambda: objects[0])
    objects[0] = 5.0
    assert early() == 5.0


def test_cached_properties_are_looked_into() -> None:
    """The function behind a cached property reads state as well."""
    model = Model(1.0)
    early = bind_state(lambda: model.cached)
    model.rate = 5.0
    assert early() == 1.0
