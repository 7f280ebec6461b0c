"""Structures of tensors: how their leaves are named and put together again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.pytree import leaves, map_structure, named_leaves


class Layer(NamedTuple):
    w: Any
    b: Any


@dataclass
class Model:
    layer: Layer
    scales: dict[str, Any]


def test_names_of_leaves_are_the_expressions_that_pick_them() -> None:
    """Through dataclasses, named tuples, dictionaries, lists and tuples, in the order of `leaves`."""
    model = Model(Layer(1.0, [2.0]), {"a": (3.0, 4.0)})
    named = named_leaves(model, "model")
    assert [name for name, _ in named] == [
        *("model.layer.w", "model.layer.b[0]", "model.scales['a'][0]", "model.scales['a'][1]"),
    ]
    for name, value in named:
        assert eval(name, {"model": model}) == value
    assert [value for _, value in named] == [1.0, 2.0, 3.0, 4.0]


def test_a_named_tuple_keeps_its_class() -> None:
    """Gradients have the structure of what they were asked for."""
    layer = Layer(gt.Variable(2.0), gt.Variable(3.0))
    with gt.GradientTape() as tape:
        y = layer.w * layer.w * layer.b
    found = tape.gradient(y, layer)
    assert isinstance(found, Layer)
    assert (float(found.w), float(found.b)) == (12.0, 4.0)


def test_structures_that_part_are_refused_at_the_place() -> None:
    """The message says what is there on both sides; keys of a dictionary may come in any order."""
    assert map_structure(lambda a, b: a + b, {"a": 1, "b": 2}, {"b": 20, "a": 10}) == {"a": 11, "b": 22}
    with pytest.raises(gt.StructureError, match=r"a dict with keys \['a'\] against a dict with keys \['b'\]"):
        map_structure(np.add, {"a": 1}, {"b": 1})
    with pytest.raises(gt.StructureError, match=r"a list of 2 against a tuple of 2"):
        map_structure(np.add, [1, 2], (1, 2))
    assert leaves([1, (2, {"k": 3})]) == [1, 2, 3]
