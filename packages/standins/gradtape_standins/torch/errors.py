"""gradtape's errors under the classes that PyTorch raises: the same explanations, caught by the same `except`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtape import errors
from gradtape.errors import GradTapeError
from gradtape.extend import Fix, Problem, node_of, respell


def _shown_as(name: str, module: str = "builtins") -> Callable[[type[GradTapeError]], type[GradTapeError]]:
    """Give a class the name that PyTorch's has, for programs that print `type(error).__name__` and for tracebacks."""

    def renamed(kind: type[GradTapeError]) -> type[GradTapeError]:
        kind.__name__ = kind.__qualname__ = name
        kind.__module__ = module
        return kind

    return renamed


class LinAlgError(errors.LinearAlgebraError, RuntimeError):
    """A matrix that is singular, not square, or not positive definite where it has to be.

    >>> from gradtape_standins import torch
    >>> issubclass(torch.linalg.LinAlgError, RuntimeError)
    True
    """


class ShapeError(errors.ShapeError, RuntimeError):
    """Shapes that do not fit; PyTorch raises RuntimeError for them."""


class DtypeError(errors.DtypeError, RuntimeError):
    """A dtype that cannot be used here; PyTorch raises RuntimeError for it."""


class DetachError(errors.DetachError, RuntimeError):
    """A tensor that would have lost its gradient in silence; PyTorch raises RuntimeError for it."""


class RuleError(errors.RuleError, RuntimeError):
    """A gradient rule that returned something else than it should; PyTorch raises RuntimeError for it."""


class StructureError(errors.StructureError, RuntimeError):
    """Structures that should match and do not; PyTorch raises RuntimeError for them."""


class RefusedError(errors.OperandError, RuntimeError):
    """A tensor that cannot be used in this way; PyTorch raises RuntimeError for it."""


class NumericsError(errors.NumericsError, RuntimeError):
    """A NaN under `torch.autograd.detect_anomaly`; PyTorch raises RuntimeError for it."""


_AS_TORCH: dict[type[GradTapeError], type[GradTapeError]] = {
    errors.ShapeError: ShapeError,
    errors.DtypeError: DtypeError,
    errors.DetachError: DetachError,
    errors.RuleError: RuleError,
    errors.StructureError: StructureError,
    errors.OperandError: RefusedError,
    errors.LinearAlgebraError: LinAlgError,
    errors.NumericsError: NumericsError,
}


def _spelled(text: str) -> str:
    """Advice in PyTorch's names, where it has them; gradtape's own stay."""
    return respell(text, {"torch": "torch"})


def _advise(problem: Problem) -> None:
    """Put the advice of a finding in PyTorch's names. What the user wrote stays, and so do edits of it.

    The finding stays the same object, by which those who have heard of it know it.
    """
    details = dict(problem.details)
    if "notes" in details:
        details["notes"] = [_spelled(note) for note in details["notes"]]
    fixes = tuple(fix if fix.checked or fix.is_edit else Fix(_spelled(fix)) for fix in problem.fixes)
    for name, value in {"fixes": fixes, "intent": _spelled(problem.intent), "details": details}.items():
        object.__setattr__(problem, name, value)


for _kind in (ShapeError, DtypeError, DetachError, RuleError, StructureError, RefusedError, NumericsError):
    _shown_as("RuntimeError")(_kind)
_shown_as("_LinAlgError", "torch._C")(LinAlgError)


@functools.cache
def _named_as_torch_names(kind: type[GradTapeError]) -> type[GradTapeError]:
    """The class of PyTorch's name for one of gradtape's: that of the first of Python's own that it is a kind of."""
    found = _AS_TORCH.get(kind)
    if found is not None:
        return found
    own = [base for base in kind.__mro__ if base.__module__ == "builtins"]
    python = IndexError if IndexError in own else own[0]
    if kind.__name__ == python.__name__:
        return kind
    made: type[GradTapeError] = type(kind.__name__, (kind,), {"__doc__": kind.__doc__})
    return _shown_as(python.__name__)(made)


@functools.cache
def _under(kind: type[GradTapeError], python: type[Exception]) -> type[GradTapeError]:
    """A class of gradtape's that is one of Python's as well, and shown under its name."""
    bases = (kind,) if issubclass(kind, python) else (kind, python)
    made: type[GradTapeError] = type(kind.__name__, bases, {"__doc__": kind.__doc__})
    return _shown_as(python.__name__)(made)


def as_torch(error: GradTapeError, python: type[Exception] | None = None) -> GradTapeError:
    """`error` as an exception of the class that PyTorch raises there, with advice in PyTorch's names.

    `python` names the class where it is another one than it usually is for errors of this kind.
    """
    if getattr(error, "is_torchs", False):
        return error
    kind = _named_as_torch_names(type(error)) if python is None else _under(type(error), python)  # type: ignore[arg-type]
    translated: Any = kind.__new__(kind)
    _advise(error.problem)
    translated.problem = error.problem
    translated.args = (error.problem.to_text(),)
    translated.is_torchs = True
    return translated.with_traceback(error.__traceback__)  # type: ignore[no-any-return]


class translating:
    """Within the block, gradtape's errors come out as PyTorch's."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, GradTapeError):
            translated = as_torch(error)
            if translated is not error:
                raise translated from error.__cause__


def warn_not_kept(tensor: Any) -> None:
    """The `.grad` of a tensor that is not a leaf was asked for: it is None, and PyTorch warns of that."""
    from gradtape.extend import Location, messages, report, span_of

    made = node_of(tensor._value).location
    found = messages.problem(
        "GT201",
        f"the .grad of a tensor of shape {tuple(tensor.shape)} that is not a leaf is None: backward() keeps gradients "
        "of leaves only",
        spans=[span_of(Location.here(), "asked here"), span_of(made, "computed here")],
        fixes=[
            "if it is a parameter, make it a leaf: x = (...).detach().requires_grad_()",
            "call .retain_grad() on it before backward(), or ask for the gradient of a leaf",
        ],
    )
    said = (
        f"the .grad of a tensor of shape {tuple(tensor.shape)} that is not a leaf was asked for at "
        f"{found.spans[0].place if found.spans else 'an unknown line'}; backward() keeps gradients of leaves only.\n"
        f"{made.show()}\n  fix: call .retain_grad() on it before backward(), or ask for the gradient of a leaf"
    )
    report(found, said)
