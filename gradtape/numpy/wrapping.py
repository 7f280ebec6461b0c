"""NumPy's functions for this namespace: they take nested lists of tensors, and make buffers while a tape may record.

NumPy's functions find gradtape by themselves where an argument is a tensor. A list that has tensors in it is none:
NumPy would ask each tensor for its bare numbers. So such lists become tensors before the function is called.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy

from gradtape.extend import Tensor, may_record
from gradtape.mirror import holds_tensor, is_nested
from gradtape.numpy.arrays import Base, adopt, adopt_view, ndarray, numpy_arrays, plain_view
from gradtape.numpy.ufuncs import as_tensor, wrap_ufunc
from gradtape.ops.creation_from import array as stack_nested

TAKE_SEQUENCES = frozenset(
    [
        *("apply_over_axes", "broadcast_arrays", "choose", "column_stack", "concat", "concatenate", "dstack"),
        *("einsum", "einsum_path", "histogram2d", "histogramdd", "hstack", "ix_", "lexsort", "meshgrid"),
        *("multi_dot", "piecewise"),
        *("select", "stack", "vstack", "save", "savez", "savez_compressed", "savetxt", "array_repr", "array_str"),
    ]
)
"""Functions that look into the lists that they are given: each item of such a list is an array of its own."""


def as_array(argument: Any) -> Any:
    """An argument that is an array: a nested list with tensors in it as a tensor, an `ndarray` as one of NumPy's."""
    kind = type(argument)
    if kind is ndarray:
        return argument.view(Base)
    if is_nested(kind) and holds_tensor(argument):
        return stack_nested(argument)
    return argument


def as_arrays(argument: Any) -> Any:
    """An argument that may be a list of arrays: the same for each item."""
    kind = type(argument)
    if kind is list or kind is tuple:
        return kind(map(as_array, argument))
    if is_nested(kind):
        return [as_array(item) for item in argument]
    return as_array(argument)


WRITE = frozenset(["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"])
"""Functions that write into their first argument."""


def view_items(argument: Any) -> Any:
    """A list of arrays with those that are `ndarray` as NumPy's own; anything else as it is."""
    kind = type(argument)
    if kind is list or kind is tuple:
        return kind([x.view(Base) if type(x) is ndarray else x for x in argument])
    return argument


def wrap(theirs: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """A function of NumPy's that takes nested lists of tensors, and whose new arrays are those of this namespace.

    >>> import gradtape as gt
    >>> gt.grad(lambda t: wrap(numpy.sum)([t, [1.0, t][1] * 2.0]))(gt.tensor(1.0))
    Tensor(3.)
    """
    name = name or theirs.__name__
    of_sequences = name in TAKE_SEQUENCES
    is_read = not of_sequences and name not in WRITE and name != "block"
    prepared = as_arrays if of_sequences else plain_view if name == "block" else as_array

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        if may_record():
            given = [prepared(x) for x in args]
            named = {key: prepared(x) for key, x in kwargs.items()} if kwargs else kwargs
            others = (*given[1:], *named.values()) if is_read else ()
            # NumPy looks for tensors among the arrays only, and makes numbers of `initial=`, `ddof=`, `left=`
            if others and any(isinstance(x, Tensor) for x in others):
                given[:1] = [as_tensor(x) for x in given[:1]]
        else:
            given = [x.view(Base) if type(x) is ndarray else view_items(x) if of_sequences else x for x in args]
            named = {key: plain_view(x) for key, x in kwargs.items()} if kwargs else kwargs
        made = theirs(*given, **named)
        kind = type(made)
        if kind is numpy.float64 or kind is Tensor:
            return made
        for before, after in zip(args, given, strict=True):
            if made is after:
                return before
        if kwargs and kwargs.get("out") is not None:
            return kwargs["out"]
        if not may_record():
            return adopt(made)
        return adopt_view(made, numpy_arrays((*given, *named.values())))

    return function


def take_name(original: ModuleType, ours: str, name: str) -> Any:
    """A public name of one of NumPy's modules: functions and ufuncs wrapped; classes and constants as they are."""
    if name.startswith("_"):
        raise AttributeError(f"{ours} has no name {name!r}")
    try:
        found = getattr(original, name)
    except AttributeError:
        raise AttributeError(f"{ours} has no name {name!r}, and neither has {original.__name__}") from None
    if isinstance(found, numpy.ufunc):
        return wrap_ufunc(found, ours)
    if isinstance(found, (type, ModuleType)) or not callable(found):
        return found
    return wrap(found, name)


def module_functions(
    original: ModuleType, namespace: dict[str, Any], reasons: Mapping[str, str] = {}
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module that has every public name of one of NumPy's.

    Names that the module does not define are taken from the original when they are first used.
    """
    ours = namespace["__name__"]

    def get(name: str) -> Any:
        found = namespace[name] = take_name(original, ours, name)
        return found

    def names() -> list[str]:
        theirs = (name for name in dir(original) if not name.startswith("_"))
        return sorted({*theirs, *(name for name in namespace if name.startswith("__"))})

    return get, names


def same_signature(theirs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a function of ours the name, the documentation and the signature of one of NumPy's."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        documentation = function.__doc__
        wrapped: Any = functools.wraps(theirs)(function)
        wrapped.__doc__ = documentation or theirs.__doc__
        try:
            wrapped.__signature__ = inspect.signature(theirs)
        except ValueError:  # a function of C's that does not say what it takes
            del wrapped.__wrapped__
        named: Callable[..., Any] = wrapped
        return named

    return decorate
