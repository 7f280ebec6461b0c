"""Modules that have every public name of one of NumPy's or SciPy's: differentiated, passed through, or refused.

A module of `gradtape.scipy` (or `gradtape.numpy`) defines the functions that it differentiates, each decorated with
`Original.differentiated`, and takes the rest from the original:

    from gradtape.mirror import Original

    original = Original("scipy.fft")

    @original.differentiated
    def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
        ...                                         # called with at least one tensor among the arguments

    __getattr__, __dir__, __test__ = original.module(globals(), reasons={"why there is no derivative": "next_fast_len"})

A call without tensors is a call of the original, so that its values, dtypes and errors are the original's. A function
without a derivative takes tensors whose gradient is not recorded as the arrays that they hold, and refuses the others;
one whose results are places or truth values is called with the numbers of either.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Collection, Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

from gradtape.core.location import Location
from gradtape.core.pytree import is_sequence
from gradtape.core.recording import may_record
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.core.views import root_of
from gradtape.errors import UnsupportedError
from gradtape.explain import messages

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_REASON = "has no derivative in gradtape"


def holds_tensor(values: Collection[Any]) -> bool:
    """Whether there is a tensor among values, or in lists, tuples, other sequences and dicts of them.

    >>> import gradtape as gt
    >>> holds_tensor([1.0, (2.0, [gt.tensor(3.0)])]), holds_tensor([1.0, "same"])
    (True, False)
    """
    kinds = {*map(type, values)}  # a long list of numbers is looked through at once
    if kinds <= _PLAIN:
        return False
    if any(issubclass(kind, Tensor) for kind in kinds):
        return True
    containers = {kind for kind in kinds - _PLAIN if kind is dict or is_sequence(kind)}
    for value in values if containers else ():
        kind = type(value)
        if kind in containers and holds_tensor(value.values() if kind is dict else value):
            return True
    return False


_PLAIN = {bool, int, float, complex, str, type(None), np.ndarray, np.float64}
FLAT = frozenset({Tensor, *_PLAIN})
"""Frequent classes of arguments that are not nested."""


def is_nested(kind: type) -> bool:
    """Whether an object of a class is nested numbers for NumPy, which may hold tensors: a list, a named tuple, a deque.

    >>> is_nested(list), is_nested(float), is_nested(np.ndarray)
    (True, False, False)
    """
    return kind not in FLAT and is_sequence(kind)


def _of_its_own(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A result, copied if it is an argument or a view of one: what SciPy's functions return is new."""
    if isinstance(result, Tensor) and result is not kwargs.get("out"):
        root = root_of(result)
        if any(isinstance(x, Tensor) and root_of(x) is root for x in (*args, *kwargs.values())):
            return result.copy(order="K")
    return result


class Original:
    """A module of NumPy's or SciPy's whose names another module has."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.contents: ModuleType = importlib.import_module(name)
        self.functions: dict[str, Callable[..., Any]] = {}
        """The functions that are differentiated."""

    def differentiated(self, ours: F) -> F:
        """Decorate a function for tensors: without a tensor among the arguments, the original is called."""
        return self._choosing(ours, holds_tensor)

    def differentiated_with_callbacks(self, ours: F) -> F:
        """The same for a function that calls functions of the user's, which may read tensors that are no arguments.

        Ours is called as well whenever a tape, a transformation or a compiler records.
        """
        return self._choosing(ours, lambda values: holds_tensor(values) or may_record())

    def differentiated_where(self, is_ours: Callable[[Collection[Any]], bool]) -> Callable[[F], F]:
        """The same where `is_ours` says so of the arguments: for containers of tensors of a module's own."""
        return lambda ours: self._choosing(ours, is_ours)

    def _choosing(self, ours: F, is_ours: Callable[[Collection[Any]], bool]) -> F:
        """A function that calls ours or the original, with the name and signature of the original."""
        name = ours.__name__
        theirs = getattr(self.contents, name, None)
        if theirs is None:  # an older version does not have it
            self.functions[name] = ours
            return ours

        @functools.wraps(ours)
        def choose(*args: Any, **kwargs: Any) -> Any:
            if is_ours(args) or (kwargs and is_ours(kwargs.values())):
                return _of_its_own(ours(*args, **kwargs), args, kwargs)
            return theirs(*args, **kwargs)

        function: Any = choose
        try:
            function.__signature__ = inspect.signature(theirs)
        except ValueError:  # a function of C's that does not say what it takes
            function.__signature__ = inspect.signature(ours)
        self.functions[name] = function
        chosen: F = function
        return chosen

    def module(
        self, namespace: dict[str, Any], reasons: Mapping[str, str] = {}, piecewise_constant: str = ""
    ) -> tuple[Callable[[str], Any], Callable[[], list[str]], dict[str, str]]:
        """`__getattr__`, `__dir__` and `__test__` of the module with this namespace.

        `reasons` are the functions without a derivative, a text of names for each reason; `piecewise_constant` the
        names of those whose results are places, labels and truth values, with a derivative of zero. (`__test__` has
        the examples of the decorated functions, which doctest does not find by itself.)
        """
        reason_of = {name: reason for reason, names in reasons.items() for name in names.split()}
        constant = frozenset(piecewise_constant.split())
        ours = namespace["__name__"]

        def get(name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(f"{ours} has no name {name!r}")
            try:
                found = getattr(self.contents, name)
            except AttributeError:
                raise AttributeError(f"{ours} has no name {name!r}, and neither has {self.name}") from None
            if isinstance(found, type):
                found = refusing_class(found, f"{self.name}.{name}", reason_of[name]) if name in reason_of else found
            elif name in constant:
                found = of_numbers(found)
            elif callable(found):
                found = passed_through(found, f"{self.name}.{name}", reason_of.get(name, DEFAULT_REASON))
            namespace[name] = found
            return found

        def names() -> list[str]:
            theirs = (name for name in dir(self.contents) if not name.startswith("_"))
            return sorted({*theirs, *self.functions, *(name for name in namespace if name.startswith("__"))})

        examples = {
            name: found.__doc__
            for name, found in namespace.items()
            if found is self.functions.get(name) and found.__doc__ and ">>>" in found.__doc__
        }
        return get, names, examples


def passed_through(function: Callable[..., Any], called: str, reason: str = DEFAULT_REASON) -> Callable[..., Any]:
    """A function of NumPy's or SciPy's that takes tensors without a gradient too, and refuses those with one.

    >>> import gradtape as gt, scipy.fft
    >>> passed_through(scipy.fft.next_fast_len, "scipy.fft.next_fast_len")(gt.tensor(7).item())
    7
    """

    def plain(value: Any) -> Any:
        kind = type(value)
        if kind is list or kind is tuple:
            return kind(map(plain, value))
        if kind is dict:
            return {key: plain(element) for key, element in value.items()}
        if kind in _FUNCTIONS:  # of the user's, which may return what is recorded
            return functools.wraps(value)(lambda *args, **kwargs: plain(value(*args, **kwargs)))
        if hasattr(kind, "__gradtape_plain__"):  # a container of tensors, as one of arrays
            return value.__gradtape_plain__(plain)
        if not isinstance(value, Tensor):
            return value
        if is_tracked(value):
            raise UnsupportedError(
                f"{called} {reason}.\n{Location.here().show()}\n"
                f"  fix: {called}(x.numpy()) if no gradient is wanted; gt.custom_vjp to give it a rule"
            )
        return value.numpy()

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if holds_tensor(given) or any(
            type(value) in _FUNCTIONS or hasattr(type(value), "__gradtape_plain__") for value in given
        ):
            args, kwargs = plain(args), plain(kwargs)
        return function(*args, **kwargs)

    return call


def of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results change in steps only, called with the numbers of tensors: its derivative is zero.

    >>> import gradtape as gt, scipy.signal
    >>> gt.grad(lambda x: x[of_numbers(scipy.signal.argrelmax)(x)].sum())(gt.tensor([1.0, 3.0, 2.0]))
    Tensor([0., 1., 0.])
    """

    def plain(value: Any) -> Any:
        kind = type(value)
        if kind is list or kind is tuple:
            return kind(map(plain, value))
        return value._concrete() if isinstance(value, Tensor) else value

    def check(name: str, value: Any) -> None:
        if type(value) in (list, tuple):
            for part in value:
                check(name, part)
        elif isinstance(value, Tensor) and is_tracked(value):
            raise messages.tracked_parameter(function.__name__, name, value.shape)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if holds_tensor(args) or (kwargs and holds_tensor(kwargs.values())):
            for name, value in _by_name(function, args, kwargs).items():
                if name in _CONTINUOUS:
                    check(name, value)
            args, kwargs = plain(args), {name: plain(value) for name, value in kwargs.items()}
        return function(*args, **kwargs)

    return call


_CONTINUOUS = frozenset({"sampling"})  # parameters of such functions by which their results do not change in steps


def _by_name(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names; those of a function without a signature that are given by name."""
    try:
        return inspect.signature(function).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):  # what does not fit is the function's to refuse
        return kwargs


class RefusingType(type):
    """The class of classes that refuse tensors with a gradient. What they make is of the original class."""

    original: type[Any]
    make: Callable[..., Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.make(*args, **kwargs) if "make" in vars(cls) else super().__call__(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.original) if "make" in vars(cls) else super().__instancecheck__(value)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.original) if "make" in vars(cls) else super().__subclasscheck__(kind)


def refusing_class(original: type[Any], called: str, reason: str) -> type[Any]:
    """A class of SciPy's that takes tensors without a gradient too, and refuses those with one.

    >>> import numpy, scipy.interpolate
    >>> refusing = refusing_class(scipy.interpolate.NdPPoly, "scipy.interpolate.NdPPoly", "has no derivative")
    >>> isinstance(refusing(numpy.ones((1, 1, 1, 1)), ([0.0, 1.0], [0.0, 1.0])), refusing)
    True
    """
    content = {
        "original": original,
        "make": staticmethod(passed_through(original, called, reason)),
        **{name: getattr(original, name) for name in ("__module__", "__qualname__", "__doc__")},
    }
    return RefusingType(original.__name__, (original,), content)


_FUNCTIONS = (FunctionType, MethodType, functools.partial)
"""The classes of functions that users write."""
