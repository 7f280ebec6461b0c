"""Which location operations get: in a gradient rule, on behalf of another operation, in code that is not the user's."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import location as locations
from gradtape.core.graph import Node
from gradtape.core.location import (
    Location,
    call_at,
    forget_library_folder,
    generated_files,
    is_library,
    is_watched_file,
    location_of_running_rule,
    overrides,
    register_library_folder,
)
from gradtape.core.operation import Op, apply
from gradtape.forking import lazy_packages

SEEN: list[Location | None] = []
RULES: dict[str, Any] = {
    "SEEN": SEEN,
    "location_of_running_rule": location_of_running_rule,
    "call_at": call_at,
    "GradientTape": gt.GradientTape,
}
# compiled as a file of the library, because the search ends at the first frame of the user's
LIBRARY = """
def reverse(g, node, out, inputs):
    SEEN.append(location_of_running_rule())
    return (g * 2.0,)

def reverse_with_a_tape(g, node, out, inputs):
    with GradientTape() as tape:
        doubled = tape.watch(g) * 2.0
    SEEN.append(doubled._node.location)
    return (g * 2.0,)

def reverse_elsewhere(g, node, out, inputs):
    return call_at(PLACE, reverse, g, node, out, inputs)
"""
exec(compile(LIBRARY, gt.__file__, "exec"), RULES)


def double(x: Any, rule: str = "reverse") -> Any:
    return apply(Op("double", lambda x: 2.0 * x, reverse=RULES[rule]), (x,), {})


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()
    assert overrides.innermost is None


@pytest.mark.parametrize("rule", ["reverse", "reverse_elsewhere"])
def test_a_rule_has_the_location_of_its_operation(rule: str) -> None:
    """It is known while the rule runs, also inside a call on behalf of another operation, and not afterwards."""
    x = gt.tensor(1.0, requires_grad=True)
    RULES["PLACE"] = x._node
    y = double(x, rule)
    line = sys._getframe().f_lineno - 1
    y.backward()
    (location,) = SEEN
    assert location is not None
    assert location.line == line
    assert location_of_running_rule() is None
    assert overrides.innermost is None


def test_a_rule_of_the_user_has_its_own_location() -> None:
    """The frames of a custom rule are the user's: an error in it is reported there."""

    @gt.custom_gradient
    def twice(x: Any) -> Any:
        def pull(g: Any) -> Any:
            SEEN.append(location_of_running_rule())
            return g * 2.0

        return x * 2.0, pull

    gt.grad(twice)(1.0)
    assert SEEN == [None]


def test_the_location_of_a_recorded_rule_is_that_of_its_operation() -> None:
    """Where the backward pass is recorded, its nodes tell that they belong to the derivative of an operation."""
    x = gt.tensor(1.0, requires_grad=True)
    y = double(x)
    line = sys._getframe().f_lineno - 1
    (gradient,) = gt.gradients(y * y, [x], create_graph=True)
    node: Node | None = gradient._node
    while node is not None and node.op is not None:
        if node.location.in_rule and node.location.line == line:
            return
        node = node.parents[0]
    pytest.fail("no node of the backward pass has the location of the operation")


def test_what_a_rule_records_itself_is_located_where_the_gradient_was_asked_for() -> None:
    """As for a rule that computes the operation once more; in a recorded backward pass, where the operation is."""
    x = gt.tensor(1.0, requires_grad=True)
    y = double(x, "reverse_with_a_tape")
    line = sys._getframe().f_lineno - 1
    y.backward(retain_graph=True)
    gt.gradients(y, [x], create_graph=True)
    assert [location.line for location in SEEN if location is not None] == [line + 2, line]


def test_a_walk_that_fails_leaves_no_override() -> None:
    """An error in a rule ends the override with the walk."""
    x = gt.tensor(1.0, requires_grad=True)
    y = apply(Op("fails", np.negative, reverse=lambda *_: pytest.fail("inside")), (x,), {})
    with pytest.raises(pytest.fail.Exception, match="inside"):
        y.backward()
    assert overrides.innermost is None


def test_a_call_on_behalf_of_an_operation_has_its_location() -> None:
    """What is computed in `call_at` is recorded at the location of the node that it is given."""
    x = gt.tensor(1.0, requires_grad=True)
    y = x * 2.0
    RULES["x"] = x
    exec(compile("def compute():\n    return x * 3.0\n", gt.__file__, "exec"), RULES)
    z = call_at(y._node, RULES["compute"])
    assert (z._node.code, z._node.offset) == (y._node.code, y._node.offset)


def compute(name: str, x: Any) -> Any:
    """Three times `x`, computed by a function in a file of this name, whose caller is this function."""
    scope: dict[str, Any] = {}
    exec(compile("def triple(x):\n    return x * 3.0\n", name, "exec"), scope)
    return scope["triple"](x)


def test_operations_in_a_library_folder_are_located_in_the_code_that_calls_it(tmp_path: Path) -> None:
    """While a folder is registered, its frames are not the user's; afterwards they are again."""
    x = gt.tensor(1.0, requires_grad=True)
    inside, beside = str(tmp_path / "library" / "module.py"), str(tmp_path / "library_of_mine.py")
    assert compute(inside, x)._node.location.file == inside
    assert register_library_folder(str(tmp_path / "library"))
    try:
        assert not register_library_folder(str(tmp_path / "library"))
        assert is_library(inside)
        assert is_watched_file(inside)
        assert compute(inside, x)._node.location.file == __file__
        assert compute(beside, x)._node.location.file == beside
        assert not is_watched_file(beside)
    finally:
        forget_library_folder(str(tmp_path / "library"))
    assert not is_library(inside)
    assert not is_watched_file(inside)
    assert compute(inside, x)._node.location.file == inside


def test_a_package_can_be_registered_as_gradtapes_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages skip the frames of a distribution that is built on gradtape, as its own."""
    inside = str(tmp_path / "extension" / "module.py")
    x = gt.tensor(1.0, requires_grad=True)
    assert compute(inside, x)._node.location.file == inside
    with monkeypatch.context() as patched:
        patched.setattr(locations, "_own_packages", dict(locations._own_packages))
        patched.setattr(locations, "lazy_packages", set(lazy_packages))
        locations.register_own_package("extension", str(tmp_path / "extension"))
        assert locations.is_own_module("extension.module")
        assert not locations.is_own_module("extension_of_mine")
        assert locations.is_own_file(inside)
        assert compute(inside, x)._node.location.file == __file__
    is_library.cache_clear()
    assert compute(inside, x)._node.location.file == inside


def test_own_files_in_a_library_folder_are_not_watched() -> None:
    """gradtape may be installed in the folder of a library that is watched."""
    folder = str(Path(gt.__file__).parent.parent)
    assert register_library_folder(folder)
    try:
        assert is_library(gt.__file__)
        assert not is_watched_file(gt.__file__)
    finally:
        forget_library_folder(folder)


@pytest.mark.parametrize("is_rule", [False, True])
def test_location_in_a_generated_file_is_that_of_its_origin(is_rule: bool) -> None:
    """The location is in the file that the code was generated from; whether it belongs to a derivative stays known."""
    generated: Any = compile("x = 1.0 + 2.0", "<generated>", "exec")
    origin = test_own_files_in_a_library_folder_are_not_watched.__code__
    asked: list[tuple[CodeType, int]] = []

    def find(code: CodeType, offset: int) -> tuple[CodeType, int]:
        asked.append((code, offset))
        return origin, 0

    generated_files["<generated>"] = find
    try:
        location = Location(generated, ~4 if is_rule else 4)
    finally:
        del generated_files["<generated>"]
    assert asked == [(generated, 4)]
    assert (location.file, location.line) == (__file__, origin.co_firstlineno)
    assert location.in_rule is is_rule
    assert Location(generated, 4).file == "<generated>"


def test_location_without_source_shows_file_and_line() -> None:
    """Code that was never in a file has no line to underline."""
    assert Location(compile("x = 1.0", "<no file>", "exec"), 1 << 20).show() == "  <no file>:1"
