"""How `np.*` finds its way here: NumPy's two protocols, and the table of the functions that are answered.

A NumPy function that is given a tensor asks `__array_ufunc__` or `__array_function__`. What is in the tables is
recorded like gradtape's own; what is not raises at the call, with the nearest alternative, instead of losing the
gradient in silence.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import numbers
import sys
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any, TypeVar

import numpy as np

from gradtape.chapters import OPS_CHAPTERS, SPECIAL_CHAPTERS
from gradtape.core.location import Location
from gradtape.core.operation import Op, apply
from gradtape.core.rules import TABLE
from gradtape.core.tensor import Tensor, is_lazy, is_tracked, plain
from gradtape.errors import GradTapeError, OperandError, UnsupportedError
from gradtape.explain import messages
from gradtape.extension import special_function

UFUNCS: dict[np.ufunc, Op] = {}
BY_NAME: dict[str, Callable[..., Any]] = {}
"""What stands for ufuncs that NumPy does not make public, and for SciPy's, which is not imported for their sake."""

COMPOSED: dict[np.ufunc, Callable[..., Any]] = {}
"""Functions made of operations that stand for ufuncs which are no operation of their own."""

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {}
ACCUMULATIONS: dict[np.ufunc, Callable[..., Any]] = {}

F = TypeVar("F", bound=Callable[..., Any])


def answers(*numpy_functions: Callable[..., Any]) -> Callable[[F], F]:
    """Register a function as what `numpy_functions` do when they are given a tensor."""

    def register(function: F) -> F:
        for numpy_function in numpy_functions:
            FUNCTIONS[numpy_function] = function
        return function

    return register


def register_table() -> None:
    """Enter every operation that is named for the ufunc that is its kernel, and all that say what they answer for."""
    for op in TABLE.values():
        if isinstance(op.kernel, np.ufunc) and op.kernel.__name__ == op.name:
            UFUNCS[op.kernel] = op
        for function in op.answers:
            if isinstance(function, np.ufunc):
                UFUNCS[function] = op
            elif isinstance(function, str):
                BY_NAME[function] = op
            else:
                FUNCTIONS[function] = op


@functools.cache
def open_chapters() -> None:
    """Import the chapters of `gradtape.ops` that are not yet, and enter what they answer for."""
    for chapter in OPS_CHAPTERS:
        importlib.import_module(f"gradtape.ops.{chapter}")
    register_table()


@functools.cache
def open_special_chapters() -> None:
    """Import those on special functions too, which most programs do without, and enter what they answer for."""
    open_chapters()
    for chapter in SPECIAL_CHAPTERS:
        importlib.import_module(f"gradtape.ops.special.{chapter}")
    register_table()


_KNOWN = (Tensor, np.ndarray, np.generic, numbers.Number, list, tuple, deque)


def accepts(value: Any) -> bool:
    """Whether `value` is something that operators take; other libraries' arrays get a chance of their own."""
    return isinstance(value, _KNOWN) and not (isinstance(value, np.ndarray) and _has_own_meaning(type(value)))


foreign_operators: dict[type, Callable[[str, Any, Any], Any]] = {}
"""For classes of other libraries, a function (operation, left, right) that stands for the operators with a tensor."""


def operators_with(kind: type) -> Callable[[str, Any, Any], Any] | None:
    """The function that stands for the operators of a tensor and an instance of a class of another library, if any."""
    return next((foreign_operators[base] for base in kind.__mro__ if base in foreign_operators), None)


plain_array_types: set[type] = set()
"""Kinds of arrays that someone has declared to be numbers and no more, whatever they do with ufuncs."""


def _has_own_meaning(kind: type) -> bool:
    """Whether operators mean something else to a kind of array: it has units, or a mask, or * multiplies matrices."""
    return kind not in plain_array_types and any(
        getattr(kind, name) is not getattr(np.ndarray, name) for name in ("__array_ufunc__", "__mul__")
    )


def refuse_lazy(kind: type) -> None:
    """Raise if values of a kind are Dask's, which have no numbers yet."""
    if is_lazy(kind):
        raise messages.lazy_array(kind)


def refuse_matrix(kind: type) -> None:
    """Raise if a kind of arrays is NumPy's matrix.

    What NumPy makes of a matrix is a matrix in turn, and `*` between matrices is their product: an array in its place
    would be multiplied by elements later, in silence.
    """
    if issubclass(kind, np.matrix):
        raise OperandError(
            f"a np.matrix meets a tensor, which is an array: in NumPy the result would be a matrix, for which * is the "
            f"product of matrices.\n{Location.here().show()}\n"
            f"  fix: np.asarray(matrix), and @ for the product of matrices"
        )


def refuse_mask(kind: type) -> None:
    """Raise if a kind of arrays has masks, which a tensor has no place for."""
    if hasattr(kind, "filled"):
        raise OperandError(
            f"a masked array meets a tensor, and its mask would be lost.\n{Location.here().show()}\n"
            f"  fix: gt.where(mask, other, values) says what stands in the masked places; or array.filled(value)"
        )


def _loses_its_meaning(value: Any) -> bool:
    """Whether an array is of a kind that carries more than numbers, which a ufunc of ours would not see."""
    kind: Any = type(value)
    if kind is np.ndarray or not isinstance(value, np.ndarray) or not _has_own_meaning(kind):
        return False
    refuse_matrix(kind)
    refuse_mask(kind)  # NumPy's masked arrays leave what ufuncs do to ufuncs
    return bool(kind.__array_ufunc__ is not np.ndarray.__array_ufunc__)


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Tensor.__array_ufunc__` does."""
    for x in inputs:
        if _loses_its_meaning(x):
            return NotImplemented
        if not isinstance(x, _KNOWN) and (method != "at" or x is not inputs[1]):  # an index may be anything
            if hasattr(type(x), "__array_ufunc__"):
                refuse_lazy(type(x))
                return NotImplemented  # another library's: it is asked next
            raise messages.refused_argument(
                OperandError,
                f"np.{ufunc.__name__} of {' and '.join(map(_described, inputs))}.",
                "tensors, arrays, numbers and lists of numbers are taken",
            )
    if method == "__call__" and not kwargs:
        op = UFUNCS.get(ufunc)
        return apply(op, inputs, {}) if op is not None else operation_for(ufunc)(*inputs)
    return getattr(_ufunc_methods(), _METHODS[method])(ufunc, *inputs, **kwargs)


_METHODS = {name: name for name in ("reduce", "accumulate", "reduceat", "outer", "at")} | {"__call__": "call"}


def _described(x: Any) -> str:
    return f"a tensor of shape {x.shape}" if isinstance(x, Tensor) else f"a {type(x).__name__}"


def operation_for(ufunc: np.ufunc, method: str = "") -> Callable[..., Any]:
    """What `ufunc` does to tensors; raises if that is not known."""
    for opened in (None, open_chapters, open_special_chapters):
        if opened is not None:
            opened()
        found = UFUNCS.get(ufunc) or COMPOSED.get(ufunc)
        if found is None:
            name = ufunc.__name__
            found = BY_NAME.get(f"scipy.special.{name}") or BY_NAME.get(f"numpy.{name}")
            found = found if found is not None and not _is_foreign(ufunc) else None
        if found is not None:
            return found
    raise unsupported(ufunc, method)


def _ufunc_methods() -> Any:
    """The chapter on calls of ufuncs with keywords and on their methods, which stands on the other chapters."""
    return importlib.import_module("gradtape.ops.ufuncs")


def _never() -> bool:
    return False


rebinds: Callable[[], bool] = _never
"""Whether `array += tensor`, in the present statement, gives the name a tensor; the stand-in for autograd decides."""


def write_back(result: Any, out: np.ndarray[Any, Any], mask: Any = True) -> Any:
    """Write an untracked result into a plain array; a tracked one would lose its gradient there."""
    if isinstance(result, Tensor) and is_tracked(result):
        if mask is True and rebinds():
            return result
        raise messages.written_into_array(result.shape)
    np.copyto(out, plain(result), where=plain(mask))
    return out


def array_function(function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """What `Tensor.__array_function__` does."""
    for kind in types:
        if kind is not Tensor and kind is not np.ndarray:
            if not issubclass(kind, Tensor | np.ndarray):
                refuse_lazy(kind)
                return NotImplemented
            refuse_matrix(kind)
            refuse_mask(kind)
    ours = FUNCTIONS.get(function)
    if ours is None:
        open_chapters()
        ours = FUNCTIONS.get(function)
    if ours is None:
        raise unsupported(function)
    out = kwargs.pop("out", None)
    if len(args) > 2 and len(args) > (place := _place_of_out(function)):
        args, out = _without_out(int(place), args)
    try:
        result = ours(*args, **kwargs)
    except TypeError as error:
        if isinstance(error, GradTapeError):
            raise
        args, kwargs = _by_our_names(function, ours, args, kwargs)
        result = ours(*args, **kwargs)
    return result if out is None else write_into(result, out, f"np.{function.__name__}(out=...)")


def write_into(result: Any, out: Any, how: str, mask: Any = True) -> Any:
    """Make `out` the result: a tensor becomes it, as every write in place; a plain array is written to."""
    if not isinstance(out, Tensor):
        return write_back(result, out, mask)
    chosen = result if mask is True else np.where(mask, result, out)
    return out._replace(chosen if isinstance(chosen, Tensor) else Tensor(np.array(chosen)), how)


@functools.cache
def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


@functools.cache
def _place_of_out(function: Callable[..., Any]) -> float:
    """Where among its arguments a function of NumPy's has `out`; nowhere is beyond all of them."""
    try:
        names = [p.name for p in _parameters(function) if p.kind is not p.KEYWORD_ONLY]
    except ValueError:  # a function that does not say what it takes
        return inf
    return names.index("out") if "out" in names else inf


def _without_out(place: int, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """The arguments without the `out` that was given by its place, and that `out`."""
    return (*args[:place], None, *args[place + 1 :]), args[place]


def _by_our_names(function: Any, ours: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments under the names that our function has for NumPy's; an error that names those it does not take.

    Called when the call failed: what fails with arguments that can be taken fails again, with its own error.
    """
    accepted = _parameters(ours)
    if any(p.kind is p.VAR_KEYWORD for p in accepted):
        return args, kwargs
    names = [p.name for p in accepted]
    theirs = [p.name for p in _parameters(function) if p.kind is p.POSITIONAL_OR_KEYWORD]
    renamed = {name: names[place] for place, name in enumerate(theirs) if name not in names and place < len(names)}
    kwargs = {renamed.get(name, name): value for name, value in kwargs.items()}
    unknown = [name for name in kwargs if name not in names]
    if unknown:
        called = f"{_module_of(function)}.{function.__name__}"
        raise OperandError(
            f"{called} on a tensor does not take {', '.join(unknown)}.\n{Location.here().show()}\n"
            f"  accepted: {', '.join(name for name in names if not name.startswith('_'))}\n"
            f"  fix: leave it out, or {called}(x.numpy(), ...) if no gradient is wanted"
        )
    return args, kwargs


@functools.cache
def _is_foreign(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is none of NumPy's and SciPy's, whatever its name is: those of `np.frompyfunc`, or of Numba."""
    name = ufunc.__name__
    homes = [module for path, module in [*sys.modules.items()] if path.startswith(("numpy", "scipy.special"))]
    if any(module.__dict__.get(name) is ufunc for module in homes if module is not None):
        return False
    try:
        return special_function(name) is not ufunc  # of a compiled module that was loaded without its package
    except AttributeError:
        return True


def _module_of(function: Any) -> str:
    """The module of a NumPy or SciPy function, as users write it."""
    if isinstance(function, np.ufunc):
        return "np" if hasattr(np, function.__name__) else "scipy.special"
    return str(getattr(function, "__module__", "numpy")).replace("numpy", "np")


def unsupported(function: Any, method: str = "") -> UnsupportedError:
    """The error for a NumPy function that gradtape does not have, with what is nearest."""
    import difflib  # only those who made a slip pay for it

    name = function.__name__
    if isinstance(function, np.ufunc) and _is_foreign(function):
        return _unsupported_ufunc(name, method)
    module = _module_of(function)
    known = {f.__name__ for f in UFUNCS if _module_of(f) == module}
    known |= {f.__name__ for f in FUNCTIONS if _module_of(f) == module}
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.85)  # the same word, nearly: most of these are no help
    hint = f"nearest that is there: {', '.join(f'{module}.{n}' for n in near)}; or " if near else ""
    return UnsupportedError(
        f"{module}.{name}{method} has no gradient rule in gradtape.\n{Location.here().show()}\n"
        f"  fix: {hint}{module}.{name}(x.numpy()) if no gradient is wanted; gt.custom_vjp to give it a rule"
    )


def _unsupported_ufunc(name: str, method: str) -> UnsupportedError:
    """The error for a ufunc that another library, or `np.frompyfunc`, made of a function."""
    made, _, rest = name.rpartition(" (vectorized)")
    what = f"np.frompyfunc({made}, ...){method}" if made and not rest else f"the ufunc {name}{method}"
    ways = "call the function itself on tensors, if it is made of NumPy's; " if made and not rest else ""
    return UnsupportedError(
        f"{what} takes bare numbers, and has no gradient rule in gradtape.\n{Location.here().show()}\n"
        f"  fix: {ways}on x.numpy() if no gradient is wanted; gt.custom_vjp to give it a rule"
    )
