"""The names of source files for readers."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from gradtape.explain import Span
from gradtape.source_names import name_of_file


def test_cells_of_notebooks_are_named_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary file of a cell has the number of the cell; other files keep their names, in a notebook too."""
    cells = {"/tmp/ipykernel_1/99.py": ("Cell", "In[3]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=cells.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert name_of_file("/tmp/ipykernel_1/99.py") == "cell [3]"
    assert name_of_file("/home/ada/model.py") == "model.py"
    assert Span("/tmp/ipykernel_1/99.py", 4).place == "cell [3]:4"


def test_without_a_notebook_files_have_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of IPython, and in one that does not number its cells, it is the last part of the path."""
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert name_of_file("/a/b.py") == "b.py"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=SimpleNamespace))
    assert name_of_file("/a/b.py") == "b.py"
