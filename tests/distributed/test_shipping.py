"""Functions that are sent to other processes: unpacked once, with their source text and settings."""

from __future__ import annotations

import linecache
import pickle
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.distributed import shipping
from gradtape.distributed.programs import Program
from gradtape.distributed.shipping import Shipped, source_texts

pytest.importorskip("cloudpickle", reason="cloudpickle comes with Dask, and is not installed: nothing is sent")

CELL = """
def helper(x):
    return np.tanh(x)

def loss(w, x):
    return np.sum(helper(x @ w))
"""


def cell(file: str) -> dict[str, Any]:
    """The names that a cell of a notebook defines."""
    names: dict[str, Any] = {"np": np, "__name__": "__main__"}
    linecache.cache[file] = (len(CELL), None, CELL.splitlines(keepends=True), file)
    exec(compile(CELL, file, "exec"), names)
    return names


def test_a_process_unpacks_a_function_once() -> None:
    """The same bytes give the same object, so that a function is compiled once however many tasks have it."""
    packed = pickle.dumps(Shipped(Program, "value_and_grad", cell("<ipython-1>")["loss"]))
    first, second = pickle.loads(packed), pickle.loads(packed)
    assert first is second
    assert first.content is second.content
    x = np.ones((3, 2))
    first.content.run(np.ones(2), None, (x,), True, 0)
    second.content.run(np.zeros(2), None, (x,), True, 0)
    assert first.content.compiled.stats.traces == 1


def test_what_arrives_can_be_sent_on() -> None:
    """A function that came from elsewhere is packed as the same bytes: a worker may hand it to another."""
    packed = pickle.dumps(Shipped(Program, "value_and_grad", cell("<ipython-2>")["loss"]))
    assert pickle.dumps(pickle.loads(packed)) == packed


def test_source_text_travels_along() -> None:
    """The text of a cell is there in a process that has no such file, also that of the functions it calls."""
    names = cell("<ipython-3>")
    assert source_texts([names["loss"]]) == {"<ipython-3>": CELL}
    packed = pickle.dumps(Shipped(Program, "value_and_grad", names["loss"]))
    del linecache.cache["<ipython-3>"]
    arrived = pickle.loads(packed)
    with pytest.raises(gt.ShapeError) as caught:
        arrived.content.run(np.ones(2), None, (np.ones((3, 4)),), False, 0)
    assert caught.value.problem.spans[0].text == "x @ w"


def test_settings_that_numbers_depend_on_travel_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker computes with the instruction sets that the client was told to use."""
    monkeypatch.setattr(gt.config, "native_features", "-avx512f")
    packed = pickle.dumps(Shipped(Program, "value_and_grad", cell("<ipython-4>")["loss"]))
    monkeypatch.setattr(gt.config, "native_features", "")
    pickle.loads(packed)
    assert gt.config.native_features == "-avx512f"


def test_old_functions_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process keeps a bounded number of functions."""
    monkeypatch.setattr(shipping, "KEPT_AT_MOST", 2)
    for number in range(4):
        pickle.loads(pickle.dumps(Shipped(dict, [("number", number)])))
    assert len(shipping._received) == 2
