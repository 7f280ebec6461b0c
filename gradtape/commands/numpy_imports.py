"""What `gradtape run --stand-in numpy` does: `import numpy` in a script, and in the modules beside it, gives ours.

`import` calls `builtins.__import__` with the names of the module that imports. For those of the script and of files in
its folder, `numpy` and `scipy` are `gradtape.numpy` and `gradtape.scipy`. Libraries get the real ones: they are written
in C, or check for the classes of NumPy.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMESPACES = {"numpy": "gradtape.numpy", "scipy": "gradtape.scipy"}
"""What is imported for the packages."""
_INSTALLED = {"site-packages", "dist-packages"}


@contextmanager
def numpy_is_ours(folder: str) -> Iterator[None]:
    """Within the block, `import numpy` and `import scipy` in files of `folder` give gradtape's namespaces.

    >>> import os, tempfile
    >>> from gradtape.commands.numpy_imports import numpy_is_ours
    >>> with tempfile.TemporaryDirectory() as folder, numpy_is_ours(folder):
    ...     names = {"__file__": os.path.join(folder, "script.py")}
    ...     exec("import numpy as np", names)
    >>> names["np"].__name__
    'gradtape.numpy'
    """
    before, root = builtins.__import__, Path(folder).resolve()
    is_ours: dict[str, bool] = {}

    def import_module(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        package = name.partition(".")[0]
        if level or package not in NAMESPACES or globals is None:
            return before(name, globals, locals, fromlist, level)
        file = globals.get("__file__") or ""
        if file not in is_ours:
            is_ours[file] = _is_within(root, file)
        if not is_ours[file]:
            return before(name, globals, locals, fromlist, level)
        return _import_ours(name, fromlist)

    builtins.__import__ = import_module
    try:
        yield
    finally:
        builtins.__import__ = before


def _is_within(root: Path, file: str) -> bool:
    """Whether a file is one of the user's in a folder: not of a package that is installed there, nor of gradtape."""
    path = Path(os.path.abspath(file)).resolve()
    own = Path(__file__).resolve().parents[1]
    return bool(file) and path.is_relative_to(root) and not (_INSTALLED & {*path.parts} or path.is_relative_to(own))


def _import_ours(name: str, fromlist: Any) -> Any:
    """The module that `import` gives for a name of NumPy's or SciPy's; one that we do not have is the real one."""
    package, _, rest = name.partition(".")
    ours = NAMESPACES[package] + (f".{rest}" if rest else "")
    found = importlib.import_module(ours if _exists(ours) else name)
    if not fromlist:
        return importlib.import_module(NAMESPACES[package])
    for item in fromlist:  # `from scipy import linalg` imports a module that is not imported yet
        if item != "*" and not hasattr(found, item) and _exists(f"{found.__name__}.{item}"):
            importlib.import_module(f"{found.__name__}.{item}")
    return found


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # what is in front of the last dot is no package
        return False
