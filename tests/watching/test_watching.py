"""Watching, as far as it needs no other library: the budget, the imports, the records and a computation of them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.location import Location, forget_library_folder, is_library, register_library_folder
from gradtape.explain.model.record import Record
from gradtape.watching import Watching
from gradtape.watching.budget import Budget
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.imports import calling_after_import
from gradtape.watching.record import (
    CONSTANT,
    ArrayValue,
    LeafRecord,
    OperandSpec,
    OperationRecord,
    Replay,
    WatchedRecord,
)


def test_records_satisfy_the_protocol() -> None:
    """Each name of the protocol is there."""
    names = {name for name in vars(Record) if not name.startswith("_")}
    assert {name for name in names if not hasattr(WatchedRecord((), np.dtype(float)), name)} == set()


def test_a_computation_runs_its_backward_pass_again() -> None:
    """The gradients of recorded operations come from their replays."""
    double = np.dtype(float)
    leaf = LeafRecord((2,), double, Location(None, 0), ArrayValue(np.array([1.0, 3.0])))
    square = OperationRecord(
        "square", "elementwise", {}, [leaf], [OperandSpec((2,), double, True)], [leaf.kept], (2,), double,
        Location(None, 0), kept=ArrayValue(np.array([1.0, 9.0])),
        replay=Replay(lambda inputs: inputs[0] ** 2, lambda inputs, g: [2 * inputs[0] * g]),
    )  # fmt: skip
    computation = RecordedComputation([(square, np.ones(2))])
    assert computation.records == [square, leaf]
    assert computation.gradients[leaf].tolist() == [2.0, 6.0]
    assert computation.inputs(square)[0].tolist() == [1.0, 3.0]
    assert computation.lost is None
    assert CONSTANT.is_shared


def test_the_budget_ends_and_is_extended() -> None:
    """Recording ends after some gradients of each place and some seconds; a NaN starts it again."""
    budget = Budget(steps=2, seconds=0.0)
    budget.spend("a")
    assert budget.is_left
    budget.spend("a")
    assert not budget.is_left
    budget.extend(1)
    assert budget.is_left
    budget.spend("a")
    assert not budget.is_left


def test_a_place_that_takes_one_gradient_does_not_keep_the_budget_open() -> None:
    """A gradient that is taken once, before the loop, is not waited for."""
    budget = Budget(steps=3, seconds=0.0)
    budget.spend("check")
    taken = 0
    while budget.is_left and taken < 100:
        budget.spend("loop")
        taken += 1
    assert 3 <= taken <= 8


def test_places_that_take_turns_are_all_recorded() -> None:
    """Of two losses that are differentiated by turns, both get the number of gradients that was asked for."""
    budget = Budget(steps=3, seconds=0.0)
    counts = {"critic": 0, "generator": 0}
    for place in ["critic", "generator"] * 20:
        counts[place] += budget.is_left
        budget.spend(place)
    assert min(counts.values()) >= 3
    assert max(counts.values()) <= 6


def test_cheap_gradients_are_recorded_for_longer() -> None:
    """As long as recording has cost little, ten gradients of a place are recorded, and later ones ever more rarely."""
    budget = Budget(steps=3, seconds=1.0)
    due = []
    for number in range(70):
        if budget.is_due("a"):
            due.append(number)
        budget.spend("a")
    assert due == [*range(10), 16, 32, 64]
    assert not Budget(steps=3, seconds=0.0).wants(3)


def test_a_library_that_cannot_be_watched_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """If our hooks do not fit a version of a library, that is said, and the program runs."""

    class Watcher:
        def __init__(self, *given: object) -> None:
            self.stopped = False

        def start(self) -> None:
            raise AttributeError("no such function")

        def stop(self) -> None:
            self.stopped = True

    monkeypatch.delenv("GRADTAPE_WATCH_DEBUG", raising=False)
    monkeypatch.setattr("importlib.import_module", lambda name: SimpleNamespace(Watcher=Watcher))
    watching = Watching(lambda problem: None, 3, 1.0)
    with pytest.warns(RuntimeWarning, match="does not watch it .AttributeError: no such function"):
        watching.begin("torch")
    assert watching.watchers == {}


def test_imports_are_noticed_once() -> None:
    """A library that is imported already is called back for at once, another when it is imported."""
    seen: list[str] = []
    sys.modules.pop("colorsys", None)
    with calling_after_import(["json", "colorsys"], seen.append):
        assert seen == ["json"]
        import colorsys
    assert seen == ["json", "colorsys"]
    assert colorsys.__spec__ is not None
    assert type(colorsys.__spec__.loader).__name__ != "_CallingLoader"


def test_a_folder_counts_as_library_while_it_is_registered() -> None:
    """Frames of files in the folder of a watched library are not the user's."""
    assert not is_library("/somewhere/packages/model.py")
    assert register_library_folder("/somewhere/packages")
    assert not register_library_folder("/somewhere/packages")
    assert is_library("/somewhere/packages/model.py")
    forget_library_folder("/somewhere/packages")
    assert not is_library("/somewhere/packages/model.py")


def test_an_unknown_library_is_refused() -> None:
    """The error names those that can be watched."""
    with pytest.raises(ValueError, match="one of 'torch', 'tensorflow', 'jax'"), gt.watch("theano"):
        pass
