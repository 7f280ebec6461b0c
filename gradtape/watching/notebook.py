"""`%%gradtape`, the cell magic of notebooks: watches what a cell executes, and shows what is found below it.

`%load_ext gradtape` makes it known.
"""

from __future__ import annotations

import importlib
from typing import Any

from gradtape.explain.emit.listeners import listening
from gradtape.explain.model.problem import Problem
from gradtape.watching import watch


def load_ipython_extension(shell: Any) -> None:
    """Register the magic with a shell of IPython; called by `%load_ext gradtape`.

    >>> import gradtape as gt
    >>> class Shell:
    ...     def register_magic_function(self, function, magic_kind, magic_name):
    ...         print(magic_kind, magic_name)
    >>> gt.load_ipython_extension(Shell())
    cell gradtape
    """

    def run_cell_watched(line: str, cell: str) -> None:
        run_watched(shell, line, cell)

    shell.register_magic_function(run_cell_watched, magic_kind="cell", magic_name="gradtape")


def run_watched(shell: Any, line: str, cell: str) -> None:
    """Execute a cell and show what was found; `line` names the libraries to watch, by default all.

    An error of the cell is shown by the notebook itself, with its explanation as a note.
    """
    found: list[Problem] = []
    with listening(found.append), watch(*line.split(), tell=found.append) as watching:
        result = shell.run_cell(cell)
        error = getattr(result, "error_in_exec", None)
        explained = None if error is None else watching.explain(error)
    shown = [*found, *([] if explained is None or explained in found else [explained])]
    display = importlib.import_module("IPython.display").display
    for problem in shown:
        display(problem)


__all__ = ["load_ipython_extension", "run_watched"]
