"""What is done when another library is imported after gradtape, without importing it for that."""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

BRIDGES = {"einops": "gradtape.bridges.einops", "scipy.sparse": "gradtape.bridges.scipy_sparse"}
"""For a library, the module of ours that makes it know tensors."""


class ImportHook:
    """A finder of modules that only looks out for the libraries in `BRIDGES`, and finds them where they are."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a library in `BRIDGES`, with a loader that imports the bridge afterwards; else None."""
        if name not in BRIDGES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            both: Any = BridgeLoader(spec.loader, BRIDGES[name])
            spec.loader = both
        return spec


class BridgeLoader:
    """The library's own loader, and then the module of ours. (`importlib.abc` would take 20 ms to import.)"""

    def __init__(self, loader: Any, ours: str) -> None:
        self.loader = loader
        self.ours = ours

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """What the library's own loader does."""
        made: ModuleType | None = self.loader.create_module(spec)
        return made

    def exec_module(self, module: Any) -> None:
        """Execute the library with its own loader, then import the bridge."""
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        import_bridge(self.ours)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)


def import_bridge(ours: str) -> None:
    """Import our module; a library that has changed too much for it keeps working, without knowing tensors."""
    try:
        importlib.import_module(ours)
    except ImportError as error:
        warnings.warn(f"{ours} cannot be used with the version that is installed: {error}", ImportWarning, stacklevel=2)


def install_import_hook() -> None:
    """Make the libraries that are there, and those that will come, know tensors."""
    for name, ours in BRIDGES.items():
        if name in sys.modules:
            import_bridge(ours)
    if not any(isinstance(finder, ImportHook) for finder in sys.meta_path):
        sys.meta_path.insert(0, ImportHook())
