"""Native entries read the headers of Python objects only if their layout is the expected one."""

from __future__ import annotations

import pytest

from gradtape.jit.native.runtime import entry


@pytest.mark.parametrize("name", ["TUPLE_ITEMS", "BYTES_START"])
def test_objects_of_another_layout_are_called_the_ordinary_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the items of tuples or bytes are elsewhere (Python 3.14 has moved them), no entry reads them."""
    find = entry.array_functions.__wrapped__
    assert find() == entry.array_functions()
    monkeypatch.setattr(entry, name, getattr(entry, name) - 8)
    assert find() is None
