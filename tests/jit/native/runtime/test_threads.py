"""Which loops are divided among threads."""

from types import SimpleNamespace

import pytest

from gradtape.jit.native.runtime import threads


@pytest.mark.parametrize(
    ("units", "elements", "heavy", "expected"),
    [(37, 10**9, False, True), (37, 1000, False, False), (37, 6000, True, True), (1, 10**9, True, False)],
)
def test_large_loops_of_several_units_are_divided(units, elements, heavy, expected):
    """A loop that takes less time than the way to another thread is one piece, and so is a single unit."""
    nest = SimpleNamespace(units=units, elements=elements, heavy=heavy)
    assert threads.worth_splitting(nest) is expected
