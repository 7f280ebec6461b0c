"""How `import torch` comes to mean the stand-in: a finder that is asked before Python's own.

Inside `standing_in()` the libraries' names, and those of all their submodules, are the modules of the stand-ins: the
same objects under both names. Outside, everything is as it was.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import FrameType, ModuleType
from typing import Any

from gradtape.extend import Tensor
from gradtape_standins import missing_names

LIBRARIES = ("autograd", "tensorflow", "torch")
"""The libraries that have a stand-in."""

BOX = {"__module__": "autograd.numpy.numpy_boxes", "__name__": "ArrayBox", "__qualname__": "ArrayBox"}
"""Where autograd's class of traced arrays is, and its name; `import` finds gradtape's there."""


class standing_in:
    """Within the `with` block, importing `libraries` (all that there are, if none is named) gives the stand-ins.

    Modules of the real libraries that were imported before are set aside and come back at the end; whoever imported
    them keeps the real ones, so that there is a warning (GT317). What was imported within the block and kept
    (`torch = ...`) goes on working after it. `standing_in().__enter__()` alone, at the top of a script, is for the rest
    of the process. A test-suite is run under `gradtape run --stand-in=torch -m pytest`.

    While autograd is stood in for, tensors go by the name of its class of traced arrays: dispatchers that know
    libraries by the module of a class (`type(x).__module__`) find theirs then.

    >>> from gradtape_standins import standing_in
    >>> with standing_in("autograd"):
    ...     import autograd.numpy as np
    >>> np.__name__
    'gradtape_standins.autograd.numpy'
    """

    def __init__(self, *libraries: str) -> None:
        self.libraries = libraries or LIBRARIES
        unknown = [library for library in self.libraries if library not in LIBRARIES]
        if unknown:
            raise ValueError(f"there is no stand-in for {', '.join(unknown)}; there are: {', '.join(LIBRARIES)}")
        self.finder = StandInFinder(self.libraries)
        self.aside: dict[str, ModuleType] = {}
        self.terms: dict[str, str] = {}

    def __enter__(self) -> None:
        self.aside = _taken(self.libraries)
        _warn_of_real(self.aside)
        active.append(self.libraries)
        self.terms = {name: getattr(Tensor, name) for name in BOX}
        sys.meta_path.insert(0, self.finder)
        if "autograd" in self.libraries:
            _call(BOX)

    def __exit__(self, *failure: object) -> None:
        active.remove(self.libraries)
        sys.meta_path.remove(self.finder)
        _call(self.terms)
        _taken(self.libraries)
        sys.modules.update(self.aside)


active: list[Sequence[str]] = []
"""The libraries of each block that is entered now."""


def chosen(text: str) -> tuple[str, ...]:
    """The libraries in a text like `torch,autograd`; all that there are in an empty one.

    >>> from gradtape_standins.import_hook import chosen
    >>> chosen("torch, autograd"), chosen("")
    (('torch', 'autograd'), ('autograd', 'tensorflow', 'torch'))
    """
    return tuple(name.strip() for name in text.split(",") if name.strip()) or LIBRARIES


def _warn_of_real(aside: dict[str, ModuleType]) -> None:
    """Warn if modules of the real libraries were set aside, and name the modules that still hold them."""
    real = {name: module for name, module in aside.items() if not module.__name__.startswith(missing_names.PREFIX)}
    if not real:
        return
    from gradtape.extend import problem, report

    libraries = sorted({name.partition(".")[0] for name in real})
    holders = _holders(real, libraries)
    listed = ", ".join(holders[:5]) + (f" and {len(holders) - 5} more" if len(holders) > 5 else "")
    kept = f"{listed} {'keeps' if len(holders) == 1 else 'keep'} it" if holders else "what has imported it keeps it"
    report(
        problem(
            "GT317",
            f"{', '.join(libraries)} was imported before its stand-in, and is the real library: {kept}",
            consequence="what holds the real library goes on computing with it; only later imports give the stand-in",
            fixes=[
                "standing_in() before anything that imports it",
                f"gradtape run --stand-in={','.join(libraries)} -m pytest for a test-suite, which is before everything",
            ],
        )
    )


def _holders(real: dict[str, ModuleType], libraries: Sequence[str]) -> list[str]:
    """The modules of others that have a module, a function or a class of the real libraries among their names."""
    theirs = {id(module) for module in real.values()}
    for module in real.values():
        theirs |= {id(value) for value in list(vars(module).values()) if _is_from(value, libraries)}
    found = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in libraries or not isinstance(module, ModuleType):
            continue
        if any(id(value) in theirs for value in list(vars(module).values())):
            found.append(name)
    return sorted(found)


def _is_from(value: Any, libraries: Sequence[str]) -> bool:
    """Whether a function or class was made in one of the libraries, and not only imported there."""
    origin = getattr(value, "__module__", None) if callable(value) else None
    return isinstance(origin, str) and origin.partition(".")[0] in libraries


def _call(terms: dict[str, str]) -> None:
    for name, text in terms.items():
        setattr(Tensor, name, text)


def _taken(libraries: Sequence[str]) -> dict[str, ModuleType]:
    """Take all modules of `libraries` out of the table of what is imported; what was taken."""
    ours = [name for name in sys.modules if name.partition(".")[0] in libraries]
    return {name: sys.modules.pop(name) for name in ours}


class StandInFinder(MetaPathFinder):
    """Finds the modules of the stand-ins under the names of the libraries."""

    def __init__(self, libraries: Sequence[str]) -> None:
        self.libraries = frozenset(libraries)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The specification of a module of the stand-in; an explained error if the library has it and we do not."""
        library = fullname.partition(".")[0]
        if library not in self.libraries:
            return None
        # where a stand-in keeps in one module what the library has in several
        aliases = getattr(sys.modules.get(missing_names.PREFIX + library), "_MODULE_ALIASES", {})
        ours = missing_names.PREFIX + aliases.get(fullname, fullname)
        if ours not in sys.modules and find_spec(ours) is None:  # a name below the stand-in raises in find_spec
            raise ModuleNotFoundError(f"the stand-in for {fullname} is not in this installation", name=fullname)
        module = importlib.import_module(ours)
        return ModuleSpec(fullname, _Alias(module), is_package=hasattr(module, "__path__"))


class _Alias(Loader):
    """Gives a module that is already imported."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has put the alias's here; relative imports go by it


class _Missing(MetaPathFinder):
    """Asked last: explains what a stand-in does not have, for `import` and for `from ... import`."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        module, _, name = fullname.rpartition(".")
        if not module.startswith(missing_names.PREFIX):
            return None
        reasons = getattr(getattr(sys.modules.get(module), "__getattr__", None), "reasons", {})
        text = missing_names.explanation(module, name, reasons.get(name, ""))
        kind = ImportError if _is_asked_for_a_name() else ModuleNotFoundError
        raise kind(text, name=missing_names.shown(fullname))


def _is_asked_for_a_name() -> bool:
    """Whether `from module import name` is under way, which looks for a module of that name where there is no other."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back
    return False


sys.meta_path.append(_Missing())
