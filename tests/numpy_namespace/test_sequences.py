"""Sequences of numbers and tensors that are no lists: NumPy takes them as arrays, and so do the namespaces."""

from __future__ import annotations

from collections import UserList, UserString, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np
from gradtape.mirror import holds_tensor
from gradtape.scipy import integrate, special


class Pair(NamedTuple):
    first: Any
    second: Any


class Row(list[Any]):
    pass


MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "named tuple": Pair,
    "deque": lambda a, b: deque([a, b], maxlen=2),
    "subclass of list": lambda a, b: Row([a, b]),
    "sequence of a class": lambda a, b: UserList([a, b]),
}


def _written(values: Any) -> Any:
    buffer = np.zeros(2)
    buffer[:] = values
    return buffer @ [1.0, 3.0]


READERS: dict[str, Callable[[Any], Any]] = {
    "array": lambda values: np.array(values) @ [1.0, 3.0],
    "array of several": lambda values: np.sum(np.array([values, values])[:, 1]),
    "asarray": lambda values: np.asarray(values)[1],
    "mean": lambda values: np.mean(values),
    "max": lambda values: np.max(values),
    "ufunc": lambda values: np.sum(np.exp(values)),
    "ufunc of two": lambda values: np.sum(np.multiply(values, [1.0, 3.0])),
    "operator": lambda values: np.sum(np.ones(2) * values),
    "dot": lambda values: np.dot(values, np.array([1.0, 3.0])),
    "stack": lambda values: np.sum(np.stack(values) ** 2),
    "where": lambda values: np.sum(np.where([True, False], values, 0.0)),
    "norm": lambda values: np.linalg.norm(values),
    "write": _written,
    "special function": lambda values: special.logsumexp(values),
    "state of an equation": lambda values: integrate.solve_ivp(lambda t, y: values, (0.0, 1.0), values).y[:, -1].sum(),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("maker", MAKERS)
def test_a_sequence_is_read_as_the_list_of_its_items(maker: str, reader: str) -> None:
    """Value and gradient are those of a list with the same items."""
    given, expected = (
        gt.value_and_grad(lambda x, make=make: READERS[reader](make(x, x * x)))(1.3) for make in (MAKERS[maker], _list)
    )
    numpy.testing.assert_allclose(given, expected, rtol=1e-13)


def _list(a: Any, b: Any) -> list[Any]:
    return [a, b]


def test_texts_hold_no_tensors() -> None:
    """A text whose characters are texts of the same class is not looked through."""
    assert not holds_tensor([UserString("abc"), "abc", b"abc", range(3)])
