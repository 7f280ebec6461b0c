"""What a stand-in says when it is asked for a name that it does not have.

Every module of a stand-in ends with `__getattr__ = missing(__name__)`. A missing name is then an AttributeError that
says whose name it is, what is nearest (in the module, elsewhere in the stand-in, in gradtape) and what to do.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

PREFIX = "gradtape_standins."
_CHAPTERS = ("linalg", "special", "fft", "stats", "signal", "nn")


def missing(module: str, submodules: Iterable[str] = (), reasons: dict[str, str] | None = None) -> Callable[[str], Any]:
    """A `__getattr__` for a module of a stand-in: its late submodules, and an explained error for all other names.

    `submodules` are imported when first used as attributes. `reasons` says for single names why they are not there
    and what to use instead; otherwise the nearest names are offered.

    >>> from gradtape_standins import autograd
    >>> try:
    ...     autograd.elementwise_gard
    ... except AttributeError as error:
    ...     print(error)
    the stand-in for autograd has no autograd.elementwise_gard.
      nearest that is there: autograd.elementwise_grad
      fix: use one of these names or compose it from gradtape's own (import gradtape as gt)
    """
    late = frozenset(submodules)
    given = {} if reasons is None else reasons
    # A module with a path is asked for `from module import name` in a way that lets the error be ours.
    vars(sys.modules[module]).setdefault("__path__", [])

    def __getattr__(name: str) -> Any:
        if name in late:
            return importlib.import_module(f"{module}.{name}")
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"module {shown(module)!r} has no attribute {name!r}")
        raise AttributeError(explanation(module, name, given.get(name, "")))

    __getattr__.reasons = given  # type: ignore[attr-defined]
    return __getattr__


def shown(module: str) -> str:
    """The name under which the original's users know a module of a stand-in."""
    return module.removeprefix(PREFIX)


def explanation(module: str, name: str, reason: str = "") -> str:
    """The text for a `name` that `module` (of a stand-in) does not have."""
    library = shown(module).partition(".")[0]
    text = f"the stand-in for {library} has no {shown(module)}.{name}."
    if reason:
        return f"{text}\n  {reason}"
    # names that tools ask every module for, as unittest.mock and pytest do, resemble nothing: no search
    near = [] if name.startswith(("_", "pytest")) else nearest(module, name)
    if near:
        text += f"\n  nearest that is there: {', '.join(near)}"
        return text + "\n  fix: use one of these names or compose it from gradtape's own (import gradtape as gt)"
    return text + (
        "\n  fix: compose it from names that are there (gradtape's own are in gradtape.__all__; tensors of the "
        f"stand-in\n       are gradtape's), or run this with the real {library}"
    )


def nearest(module: str, name: str) -> list[str]:
    """Names that are there and look like `name`: that very name elsewhere first, then others."""
    import gradtape

    opened = sys.modules.get(module)
    found: list[str] = []
    if opened is not None:
        found += _close(name, public(opened), f"{shown(module)}.", 2)
    root = PREFIX + shown(module).partition(".")[0]
    for other in sorted(other for other in list(sys.modules) if other == root or other.startswith(f"{root}.")):
        held = sys.modules[other]
        if other != module and name in public(held):
            found.append(f"{shown(other)}.{name}")
    chapters = [("gt.", gradtape.__all__)]
    chapters += [(f"gt.{chapter}.", public(getattr(gradtape, chapter))) for chapter in _CHAPTERS]
    for prefix, names in chapters:
        found += _close(name, names, prefix, 1)
    return sorted(dict.fromkeys(found), key=lambda near: not near.endswith(f".{name}"))[:4]


def public(module: ModuleType) -> list[str]:
    """The names that a module offers, its submodules included."""
    names = {name for name in getattr(module, "__all__", None) or vars(module) if not name.startswith("_")}
    names.update(entry.name for entry in pkgutil.iter_modules(getattr(module, "__path__", [])))
    return sorted(name for name in names if name != "annotations" and not name.startswith("_"))


def _close(name: str, names: Iterable[str], prefix: str, count: int) -> list[str]:
    """The closest of `names`, whatever the case of their letters."""
    by_case = {known.lower(): known for known in names}
    return [prefix + by_case[known] for known in difflib.get_close_matches(name.lower(), by_case, count, cutoff=0.75)]
