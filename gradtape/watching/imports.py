"""Calls a function when a library has been imported: at once if it was before, else at the end of its import."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Callback = Callable[[str], None]


@contextmanager
def calling_after_import(names: Sequence[str], callback: Callback) -> Iterator[None]:
    """Inside, `callback` is called with the name of each library of `names` that is or becomes imported, once.

    >>> import sys
    >>> from gradtape.watching.imports import calling_after_import
    >>> with calling_after_import(["json", "this_is_no_library"], print):
    ...     import json
    json
    """
    pending = [name for name in names if name not in sys.modules]
    finder = _ImportObserver(pending, callback)
    sys.meta_path.insert(0, finder)
    try:
        for name in names:
            if name not in pending:
                callback(name)
        yield
    finally:
        sys.meta_path.remove(finder)


class _ImportObserver(MetaPathFinder):
    """Finds nothing itself: it lets the other finders find a library, and is told when that has been executed."""

    def __init__(self, names: list[str], callback: Callback) -> None:
        self._names = names
        self._callback = callback

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the other finders give, with a loader that calls back."""
        if fullname not in self._names:
            return None
        self._names.remove(fullname)  # so that the search below does not come here again
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            self._names.append(fullname)
            return spec
        spec.loader = _CallingLoader(spec.loader, self._callback)
        return spec


class _CallingLoader(Loader):
    """A loader that calls back when a module has been executed; otherwise the loader that it has."""

    def __init__(self, loader: Any, callback: Callback) -> None:
        self._loader = loader
        self._callback = callback

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module, made by the loader itself."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, put its own loader back, and call."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._callback(module.__name__)


__all__ = ["calling_after_import"]
