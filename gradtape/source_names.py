"""The names of source files for readers: the last part of the path, and for a cell of a notebook its number."""

from __future__ import annotations

import os
import sys
from typing import Any


def name_of_file(file: str) -> str:
    """How a reader knows a source file: `train.py`, or `cell [3]` for the third cell that a notebook executed.

    >>> name_of_file("/home/ada/train.py")
    'train.py'
    """
    return _cell(file) or os.path.basename(file)


def _cell(file: str) -> str:
    """The name of a cell of the notebook or IPython session that runs; empty for anything else.

    A cell is compiled under the name of a temporary file; IPython knows its number.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    compiler: Any = getattr(shell, "compile", None)
    if not hasattr(compiler, "format_code_name"):
        return ""
    kind_and_name = compiler.format_code_name(file)  # ("Cell", "In[3]"), or None
    name = str(kind_and_name[1]) if kind_and_name else ""
    return f"cell [{name[3:-1]}]" if name.startswith("In[") and name.endswith("]") else ""
