"""Functions that make arrays: of a shape, of nested lists, of ranges, and like others.

What they make can be written to, and is on the tape as soon as a tensor is written into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import gradtape as gt
from gradtape.extend import may_record
from gradtape.mirror import holds_tensor, of_numbers, refusing_class
from gradtape.numpy.arrays import Base, adopt, adopt_view, ndarray
from gradtape.numpy.wrapping import same_signature

_LIKE = gt.tensor(0.0)


def _making(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that makes an array of a shape, or like another."""

    @same_signature(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not may_record():
            made = theirs(*args, **kwargs)
            return made.view(ndarray) if type(made) is Base else made
        made = theirs(*[x.view(Base) if type(x) is ndarray else x for x in args], **kwargs)
        return adopt(made) if type(made) is Base else made

    return function


def _choosing(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is gradtape's if there are tensors among the arguments, and else NumPy's."""

    @same_signature(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        records, first = may_record(), args[0] if args else None
        if not records and type(first) is not ndarray:
            made = theirs(*args, **kwargs)
            return made.view(ndarray) if type(made) is Base and made is not first else made
        if records and (holds_tensor(args) or (kwargs and holds_tensor(kwargs.values()))):
            return ours(*args, **{name: value for name, value in kwargs.items() if name != "like"})
        given = [x.view(Base) if type(x) is ndarray else x for x in args]
        made = theirs(*given, **kwargs)
        for before, after in zip(args, given, strict=True):
            if made is after:
                return before
        return adopt_view(made, [x for x in given if isinstance(x, Base)]) if records else adopt(made)

    return function


zeros = _making(numpy.zeros)
ones = _making(numpy.ones)
empty = _making(numpy.empty)
eye = _making(numpy.eye)
identity = _making(numpy.identity)
tri = _making(numpy.tri)
zeros_like = _making(numpy.zeros_like)
ones_like = _making(numpy.ones_like)
empty_like = _making(numpy.empty_like)

array = _choosing(numpy.array, gt.array)
asarray = _choosing(numpy.asarray, gt.asarray)
asanyarray = _choosing(numpy.asanyarray, gt.asarray)
ascontiguousarray = _choosing(
    numpy.ascontiguousarray, lambda a, dtype=None: numpy.atleast_1d(gt.asarray(a, dtype, "C"))
)
asfortranarray = _choosing(numpy.asfortranarray, lambda a, dtype=None: gt.asarray(a, dtype, "F"))
require = _choosing(numpy.require, lambda a, *args, **kwargs: numpy.require(gt.asarray(a), *args, **kwargs, like=_LIKE))
full = _choosing(numpy.full, gt.full)
full_like = _choosing(numpy.full_like, gt.full_like)
arange = _choosing(numpy.arange, gt.arange)
linspace = _choosing(numpy.linspace, gt.linspace)
logspace = _choosing(numpy.logspace, gt.logspace)
geomspace = _choosing(numpy.geomspace, gt.geomspace)
diag = _choosing(numpy.diag, lambda v, k=0: numpy.diag(gt.asarray(v), k))
diagflat = _choosing(numpy.diagflat, gt.diagflat)


def _checked(a: Any, dtype: Any = None, order: Any = None) -> Any:
    made = gt.asarray(a, dtype)
    if not numpy.isfinite(made).all():
        raise ValueError("array must not contain infs or NaNs")
    return made


asarray_chkfinite = _choosing(numpy.asarray_chkfinite, _checked)


@same_signature(numpy.fromiter)
def fromiter(iter: Any, *args: Any, **kwargs: Any) -> Any:
    if not may_record():
        return adopt(numpy.fromiter(iter, *args, **kwargs))
    items = list(iter)
    if holds_tensor(items):
        return gt.fromiter(items, *args, **kwargs)
    return adopt(numpy.fromiter(items, *args, **kwargs))


@same_signature(numpy.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    return function(*[adopt(places) for places in numpy.indices(shape, dtype=dtype)], **kwargs)


@same_signature(numpy.frombuffer)
def frombuffer(*args: Any, **kwargs: Any) -> Any:
    made = numpy.frombuffer(*args, **kwargs)  # the memory is another's: it stays an array
    return made.view(ndarray) if type(made) is Base else made


packbits, unpackbits = of_numbers(numpy.packbits), of_numbers(numpy.unpackbits)
matrix = refusing_class(
    numpy.matrix, "numpy.matrix", "holds no tensors; np.array(...) does, with @ in the place of * for the product"
)
