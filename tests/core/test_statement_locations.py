"""The places of `with` and `for` statements, which Python's versions record differently."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest

from gradtape.core.location import Location


class Recorder:
    """Has the places in the user's code where it was entered, left and iterated over."""

    def __init__(self) -> None:
        self.places: list[str] = []

    def record(self) -> None:
        frame = sys._getframe(2)
        self.places.append(Location(frame.f_code, frame.f_lasti).segment)

    def __enter__(self) -> Recorder:
        self.record()
        return self

    def __exit__(self, *given: object) -> None:
        self.record()

    def __iter__(self) -> Iterator[int]:
        self.record()
        return Numbers(self)

    def same(self, *given: object) -> Recorder:
        return self


class Numbers:
    """Gives one number."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder, self.left = recorder, 1

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self.recorder.record()
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.left


def one_block(r: Any) -> None:
    with r.same(1) as found:
        assert found is r


def block_that_returns(r: Any) -> Any:
    with r:
        return r


def block_that_raises(r: Any) -> None:
    try:
        with r.same("é", 2):
            raise ValueError
    except ValueError:
        return


def loop(r: Any) -> None:
    for number in r.same():
        assert number == 0


def loop_in_a_cleanup(r: Any) -> None:
    try:
        assert r
    finally:
        for _ in r:
            pass


@pytest.mark.parametrize(
    ("function", "segments"),
    [
        (one_block, ["r.same(1)"] * 2),
        (block_that_returns, ["r"] * 2),
        (block_that_raises, ['r.same("é", 2)'] * 2),
        (loop, ["r.same()"] * 3),
        (loop_in_a_cleanup, ["r"] * 3),
    ],
)
def test_blocks_and_loops_are_at_the_value_of_their_header(function: Callable[[Any], Any], segments: list[str]) -> None:
    """To enter, to leave and to iterate have the place of what is entered or iterated over, in every Python."""
    recorder = Recorder()
    function(recorder)
    assert recorder.places == segments


def two_blocks(r: Any) -> None:
    with r.same(1), r.same(2):
        pass


def test_each_of_two_blocks_is_entered_at_its_own_value() -> None:
    """Of a statement that enters two values, each is told apart."""
    recorder = Recorder()
    two_blocks(recorder)
    assert recorder.places[:2] == ["r.same(1)", "r.same(2)"]


def chosen(r: Any) -> None:
    for _ in r.same(1) if r else r.same(2):
        pass


def test_a_value_with_branches_is_not_taken_for_one_of_them() -> None:
    """The place is the whole expression, or the statement; never the branch that was not taken."""
    recorder = Recorder()
    chosen(recorder)
    value = "r.same(1) if r else r.same(2)"
    assert set(recorder.places) <= {value, f"for _ in {value}:"}


def calls(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "CALL":
            yield Location(code, instruction.offset).segment


def comprehension(r: Any) -> Any:
    return r.same([number + 1 for number in r.same(3)])


def test_other_instructions_keep_their_places() -> None:
    """Calls around and inside a comprehension are where they were."""
    found = list(calls(comprehension.__code__))
    assert found[0] == "r.same(3)"
    assert found[-1] == "r.same([number + 1 for number in r.same(3)])"
