"""Functions that call functions of the user's: `vectorize`, `frompyfunc`, `apply_along_axis`, `piecewise` and `poly1d`.

What the user's function returns may depend on tensors that are not among the arguments. So while a tape may record, it
is called by gradtape's versions of them, which keep the gradients.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy

import gradtape as gt
from gradtape.errors import ShapeError
from gradtape.extend import Tensor, argument_error, may_record, unshared
from gradtape.mirror import holds_tensor
from gradtape.numpy.arrays import adopt
from gradtape.numpy.wrapping import as_array, same_signature, wrap


def _with_callbacks(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    wrapped = wrap(theirs)

    @same_signature(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        return ours(*args, **kwargs) if may_record() else wrapped(*args, **kwargs)

    return function


def _as_tensor(x: Any) -> Any:
    value = as_array(x)
    return value if isinstance(value, Tensor) else Tensor(numpy.array(value))


apply_along_axis = _with_callbacks(
    numpy.apply_along_axis,
    lambda func1d, axis, arr, *args, **kwargs: gt.apply_along_axis(func1d, axis, _as_tensor(arr), *args, **kwargs),
)
apply_over_axes = _with_callbacks(
    numpy.apply_over_axes, lambda func, a, axes: gt.apply_over_axes(func, _as_tensor(a), axes)
)
piecewise = _with_callbacks(
    numpy.piecewise,
    lambda x, condlist, funclist, *args, **kw: gt.piecewise(_as_tensor(x), condlist, funclist, *args, **kw),
)


class vectorize(numpy.vectorize):
    """NumPy's class; while a tape may record, the results are stacked with their gradients.

    >>> import gradtape as gt
    >>> import gradtape.numpy as np
    >>> hinge = np.vectorize(lambda x, slope: slope * x if x > 0.0 else 0.0)
    >>> gt.grad(lambda slope: np.sum(hinge([-1.0, 2.0], slope)))(gt.tensor(3.0))
    Tensor(2.)
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(self, "pyfunc") or not callable(self.pyfunc):  # `@np.vectorize(signature=...)`
            return super().__call__(*args, **kwargs)
        if not may_record():
            return adopt(super().__call__(*args, **kwargs))
        return self._call_each(args, kwargs)

    def _call_each(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One call for each element of what the arguments are broadcast to; the results stacked."""
        excluded = getattr(self, "excluded", None) or set()
        keys: list[Any] = [place for place in range(len(args)) if place not in excluded]
        keys += [name for name in kwargs if name not in excluded]
        values = [_element_source(args[key] if isinstance(key, int) else kwargs[key]) for key in keys]
        ranks = _core_ranks(self.signature, len(values))
        outer = [value.shape[: value.ndim - rank] for value, rank in zip(values, ranks, strict=True)]
        shape = numpy.broadcast_shapes(*outer)
        if 0 in shape:
            return adopt(super().__call__(*args, **kwargs))
        values = [
            numpy.broadcast_to(value, (*shape, *value.shape[value.ndim - rank :]))
            for value, rank in zip(values, ranks, strict=True)
        ]
        types = getattr(self, "otypes", None)
        # without `otypes` NumPy calls the function for the first element once more, and takes the types from that
        places = [*numpy.ndindex(shape)]
        is_twice = not types and self.signature is None and not self.cache
        results: list[Any] = []
        for place in places[:1] * is_twice + places:
            given, named = list(args), dict(kwargs)
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, int):
                    given[key] = value[place]
                else:
                    named[key] = value[place]
            found = self.pyfunc(*given, **named)
            results.append(tuple([unshared(x) for x in found]) if isinstance(found, tuple) else unshared(found))
        several = isinstance(results[0], tuple)
        columns = list(zip(*results, strict=True)) if several else [tuple(results)]
        kinds = types or [_kind_of(column[0]) for column in columns]
        stacked = tuple([_stacked(column[is_twice:], shape, kind) for column, kind in zip(columns, kinds, strict=True)])
        return stacked if several else stacked[0]


def _element_source(value: Any) -> Any:
    value = as_array(value)
    return value if isinstance(value, Tensor) else numpy.asarray(value)


def _core_ranks(signature: str | None, count: int) -> list[int]:
    """How many axes of each argument a call takes, from a signature like `(n),(m,n)->()`."""
    if signature is None:
        return [0] * count
    inputs = signature.replace(" ", "").partition("->")[0]
    ranks = [len([name for name in part.split(",") if name]) for part in re.findall(r"\(([^)]*)\)", inputs)]
    if len(ranks) != count:
        raise argument_error(
            ShapeError, f"vectorize: {count} arrays for the signature {signature}.", f"{len(ranks)} arrays"
        )
    return ranks


def _kind_of(value: Any) -> str:
    """The letter of the dtype that NumPy gives an array of such results."""
    return (value if isinstance(value, Tensor) else numpy.asarray(value)).dtype.char


def _stacked(results: tuple[Any, ...], shape: tuple[int, ...], kind: str) -> Any:
    """The results of all calls in the shape of the arguments."""
    if holds_tensor(results):
        made = gt.array(list(results))
        made = made.reshape((*shape, *made.shape[1:]))
        return made if kind == "O" else made.astype(kind)
    plain = numpy.array(list(results), kind)
    made = plain.reshape((*shape, *plain.shape[1:]))
    return adopt(made) if made.ndim else made[()]


class PythonUfunc:
    """What `np.frompyfunc` returns: NumPy's ufunc, and while a tape may record one that keeps the gradients."""

    def __init__(self, function: Callable[..., Any], theirs: Any) -> None:
        self._each = vectorize(function, otypes="O" * theirs.nout)
        self._theirs = theirs
        self.__name__ = theirs.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not may_record() or kwargs:
            return self._theirs(*args, **kwargs)
        return self._each(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)


@same_signature(numpy.frompyfunc)
def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **kwargs: Any) -> Any:
    return PythonUfunc(func, numpy.frompyfunc(func, nin, nout, **kwargs))


class PolynomialType(type):
    """The class of `poly1d`: NumPy's own polynomials, which its methods return, are instances."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, numpy.poly1d)


class poly1d(numpy.poly1d, metaclass=PolynomialType):
    """NumPy's class, with coefficients or roots that may be tensors.

    >>> import gradtape as gt
    >>> import gradtape.numpy as np
    >>> gt.grad(lambda a: np.poly1d([a, 0.0, 1.0])(3.0))(gt.tensor(2.0))
    Tensor(9.)
    """

    _coeffs: Any

    def __init__(self, c_or_r: Any, r: Any = False, variable: Any = None) -> None:
        super().__init__(as_array(c_or_r), r, variable)

    def __setitem__(self, key: Any, val: Any) -> None:
        if isinstance(val, gt.Tensor) and not isinstance(self._coeffs, gt.Tensor):
            self._coeffs = gt.tensor(self._coeffs)  # NumPy would write the bare number
        super().__setitem__(key, val)
