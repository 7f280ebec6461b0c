"""How an operator on functions of one argument becomes one on functions of many, of which some are chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.errors import GradTapeError
from gradtape.extend import Location
from gradtape_standins import missing_names
from gradtape_standins.autograd.util import subvals
from gradtape_standins.python_errors import as_python

Function = Callable[..., Any]


def unary_to_nary(unary_operator: Function) -> Function:
    """An operator `op(fun, x)` as `op(fun, argnum=0)(*args, **kwargs)`; with several `argnum`, `x` is a tuple.

    >>> doubled = unary_to_nary(lambda fun, x: 2 * fun(x))
    >>> doubled(lambda a, b: a - b, 1)(5, 3)
    4
    """

    @wraps(unary_operator)
    def nary_operator(fun: Function, argnum: Any = 0, *operator_args: Any, **operator_kwargs: Any) -> Function:
        if type(argnum) not in (int, tuple, list):
            raise TypeError(
                f"{get_name(unary_operator)}: argnum={argnum!r}; accepted are an integer, or a tuple or list of them.\n"
                f"{Location.here().show()}\n  fix: grad_named(fun, 'name') takes an argument by its name"
            )

        @wrap_nary_f(fun, unary_operator, argnum)
        def nary_f(*args: Any, **kwargs: Any) -> Any:
            @wraps(fun)
            def unary_f(x: Any) -> Any:
                chosen = [(argnum, x)] if isinstance(argnum, int) else zip(argnum, x)
                return fun(*subvals(args, chosen), **kwargs)

            for number in [argnum] if isinstance(argnum, int) else argnum:
                if not -len(args) <= number < len(args):
                    raise IndexError(
                        f"{get_name(unary_operator)}: argnum={argnum!r}, and {get_name(fun)} was called with "
                        f"{len(args)} arguments by position.\n{Location.here().show()}\n"
                        f"  fix: pass the argument by position; they are counted from 0"
                    )
            x = args[argnum] if isinstance(argnum, int) else tuple(args[number] for number in argnum)
            try:
                return unary_operator(unary_f, x, *operator_args, **operator_kwargs)
            except GradTapeError as error:
                raise as_python(error, TypeError) from error.__cause__

        return nary_f

    return nary_operator


def wraps(
    fun: Function, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any
) -> Callable[[Function], Function]:
    """Give a function a name and a docstring made of those of `fun`; `{fun}` and `{doc}` stand for them."""

    def rename(function: Function) -> Function:
        function.__name__ = namestr.format(fun=get_name(fun), **kwargs)
        documentation = str(get_doc(fun) or "")
        function.__doc__ = (
            documentation if docstr == "{doc}" else docstr.format(fun=get_name(fun), doc=documentation, **kwargs)
        )
        return function

    return rename


def wrap_nary_f(fun: Function, op: Function, argnum: Any) -> Callable[[Function], Function]:
    """The name and the docstring of what an operator makes of `fun`."""
    described = "The {op} of {fun} with respect to argument number {argnum}; takes the arguments of {fun}."
    return wraps(fun, "{op}_of_{fun}_wrt_argnum_{argnum}", described, op=get_name(op), argnum=argnum)


def get_name(function: Any) -> str:
    """The name of a function, if it has one."""
    return str(getattr(function, "__name__", "[unknown name]"))


def get_doc(function: Any) -> Any:
    """The docstring of a function, if it has one."""
    return getattr(function, "__doc__", "")


__getattr__ = missing_names.missing(__name__)
