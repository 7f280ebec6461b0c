"""Native entries read the headers of Python objects only if their layout is the expected one."""

from __future__ import annotations

import pytest

from gradtape.jit.native.runtime import abi


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
