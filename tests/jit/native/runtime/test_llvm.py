"""From LLVM IR to functions in memory."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm
import pytest

from gradtape.jit.native.runtime import llvm as compiler


def text(number: int) -> str:
    return f"define i32 @f() {{ ret i32 {number} }}"


def test_passes_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No list of passes is made for each module: llvmlite would never give its memory back."""
    machine = compiler.Machine()

    def another() -> Any:
        raise AssertionError("another list of passes")

    monkeypatch.setattr(llvm, "create_new_module_pass_manager", another)
    made = [machine.compile(text(number), ["f"]) for number in range(2 * compiler.SHARED + 3)]
    assert [library.function("f", ctypes.c_int)() for library in made] == list(range(len(made)))


def test_code_in_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same text is the same code while it is kept; what was used longest ago goes first."""
    monkeypatch.setattr(compiler, "CACHE_SIZE", 2)
    machine = compiler.Machine()
    first, second = machine.compile(text(1), ["f"]), machine.compile(text(2), ["f"])
    assert machine.compile(text(1), ["f"]) is first
    machine.compile(text(3), ["f"])
    assert machine.compile(text(1), ["f"]) is first
    assert machine.compile(text(2), ["f"]) is not second
    assert second.function("f", ctypes.c_int)() == 2  # a library that is in use stays valid
