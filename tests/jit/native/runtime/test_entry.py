"""Native entries read the headers of Python objects only if their layout is the expected one."""

from __future__ import annotations

import copy
import ctypes
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from gradtape.jit.native.runtime import abi, entry, entry_emitter
from gradtape.jit.native.runtime.function import NativeFunction

from ..programs import Builder


@pytest.mark.parametrize("name", ["TUPLE_ITEMS", "BYTES_START"])
def test_objects_of_another_layout_are_called_the_ordinary_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the items of tuples or bytes are elsewhere (Python 3.14 has moved them), no entry reads them."""
    find = abi.array_functions.__wrapped__
    assert find() == abi.array_functions()
    monkeypatch.setattr(abi, name, getattr(abi, name) - 8)
    assert find() is None


@pytest.mark.parametrize("name", ["CELL_CONTENT", "SIZE", "INTEGER_DIGITS"])
def test_native_calls_need_the_layouts_of_what_guards_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the contents of cells, lengths or integers are elsewhere, no native call reads them."""
    know = abi.objects_are_known.__wrapped__
    assert know()
    monkeypatch.setattr(abi, name, getattr(abi, name) - 8)
    assert not know()


def make_wavy(size: int) -> tuple[NativeFunction, Any, Any]:
    """A function that needs a workspace, its entry, and its argument."""
    builder = Builder()
    x = builder.input((size,))
    total = builder("sum", builder("sin", x), axis=None, keepdims=True)
    group = builder.group(builder("multiply", builder("cumsum", x, axis=0), builder("divide", x, total)))
    return group, entry.entry(group), np.linspace(0.1, 0.9, size)


@pytest.mark.production
def test_a_workspace_is_kept_from_call_to_call() -> None:
    """The second call computes in the memory of the first; one that runs at the same time does not."""
    group, call, x = make_wavy(50_000)
    assert group.workspace > entry_emitter.ON_THE_STACK
    expected = group(x)[0].tobytes()
    cell = ctypes.c_void_p.from_address(group.arena.address)
    assert cell.value is None
    assert call(x)[0].tobytes() == expected
    kept = cell.value
    assert kept is not None
    assert call(x)[0].tobytes() == expected
    assert cell.value == kept
    with ThreadPoolExecutor(4) as pool:
        assert {found[0].tobytes() for found in pool.map(call, [x] * 40)} == {expected}
    assert cell.value is not None
    copied = copy.deepcopy(group.arena)
    assert ctypes.c_void_p.from_address(copied.address).value is None


@pytest.mark.production
def test_a_workspace_that_is_very_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given back to the system after each call."""
    monkeypatch.setattr(entry_emitter, "MOST_KEPT", 100)
    group, call, x = make_wavy(50_000)
    assert call(x)[0].tobytes() == group(x)[0].tobytes()
    assert ctypes.c_void_p.from_address(group.arena.address).value is None
