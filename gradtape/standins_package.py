"""Access to the stand-ins, which are a distribution of their own (`gradtape-standins`) and may not be installed."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

PACKAGE = "gradtape_standins"
"""The import name of the stand-ins."""
INSTALL = "pip install gradtape[standins]"
"""The command that installs them."""


def import_standins(module: str = "") -> Any:
    """The package of the stand-ins, or a module of it; an ImportError that says how to install it if it is missing.

    The name of such an error is `PACKAGE`, as is that of the error for stand-ins of another version than gradtape's.
    """
    try:
        return importlib.import_module(f"{PACKAGE}.{module}" if module else PACKAGE)
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
    raise ModuleNotFoundError(
        f"gradtape's stand-ins for other libraries are a package of their own, {PACKAGE}, which is not installed\n"
        f"  fix: {INSTALL}",
        name=PACKAGE,
    )


def find_library(library: str) -> ModuleType | None:
    """A module with the names of `library`: its stand-in, or else the real one if it is imported; None without both."""
    try:
        module: ModuleType = import_standins(library)
    except ImportError as error:
        if error.name != PACKAGE:
            raise
        return sys.modules.get(library)
    return module
