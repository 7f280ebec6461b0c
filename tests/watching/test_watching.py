"""Watching, as far as it needs no other library: the budget, the imports, the records and a computation of them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.location import Location, forget_library_folder, is_library, register_library_folder
from gradtape.explain.model.record import Record
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
