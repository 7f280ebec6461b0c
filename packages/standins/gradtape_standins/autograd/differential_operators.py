"""Functions in, derivatives out: `grad` and its relatives, with autograd's names, arguments and conventions."""

from __future__ import annotations

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape import checkpoint as checkpoint
from gradtape.errors import GradTapeError, OperandError
from gradtape.extend import Location, as_scalar, children, leaves, plain, rebuild
from gradtape_standins import missing_names
from gradtape_standins.autograd import primitives
from gradtape_standins.autograd.box_conversion import conjugate, floating, settled_structure
from gradtape_standins.autograd.boxes import tracing
from gradtape_standins.autograd.core import Traced
from gradtape_standins.autograd.core import make_jvp as _make_jvp
from gradtape_standins.autograd.core import make_vjp as _make_vjp
from gradtape_standins.autograd.spaces import vspace
from gradtape_standins.autograd.wrap_util import get_name, unary_to_nary

Function = Callable[..., Any]

make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)


def _seed(fun: Function, traced: Traced, what: str) -> Any:
    """The cotangent of a function of one real number; an explained TypeError for any other."""
    space = vspace(traced.result)
    if space.size == 1:
        return space.ones()
    if getattr(space, "iscomplex", False):
        raise TypeError(
            f"{what}: {get_name(fun)} returned complex numbers, which have no gradient.\n{Location.here().show()}\n"
            f"  fix: holomorphic_grad for a holomorphic function; np.real(...), np.abs(...) for a real one"
        )
    if children(traced.result) is not None:
        raise TypeError(
            f"{what}: {get_name(fun)} returned a {type(traced.result).__name__} of {space.size} numbers; one is "
            f"wanted.\n{Location.here().show()}\n"
            f"  fix: return one number; grad_and_aux for a pair of one number and something else"
        )
    try:
        as_scalar(traced.result, get_name(fun))
    except GradTapeError as error:
        raise OperandError(error.problem) from None


@unary_to_nary
def grad(fun: Function, x: Any) -> Any:
    """The gradient of a function of one real number, in the structure of the argument.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    traced = Traced(fun, x)
    return traced.pull(_seed(fun, traced, "grad"), last=True)


@unary_to_nary
def value_and_grad(fun: Function, x: Any) -> tuple[Any, Any]:
    """The value of a function of one real number, and its gradient.

    >>> value_and_grad(lambda x: x**2)(3.0)
    (np.float64(9.0), np.float64(6.0))
    """
    traced = Traced(fun, x)
    value = traced.value
    return value, traced.pull(_seed(fun, traced, "value_and_grad"), last=True)


@unary_to_nary
def elementwise_grad(fun: Function, x: Any) -> Any:
    """The gradient of the sum of all outputs: for elementwise functions, the derivative at every element.

    >>> import numpy as np
    >>> elementwise_grad(np.square)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    traced = Traced(fun, x)
    space = vspace(traced.result)
    if space.iscomplex:
        raise TypeError(
            f"elementwise_grad: {get_name(fun)} returned complex numbers; real ones are wanted.\n"
            f"{Location.here().show()}\n  fix: np.real(...) or np.abs(...) of the result"
        )
    return traced.pull(space.ones(), last=True)


@unary_to_nary
def deriv(fun: Function, x: Any) -> Any:
    """The derivative in the direction of ones, forwards."""
    return _make_jvp(fun, x)(vspace(floating(x)).ones())[1]


@unary_to_nary
def jacobian(fun: Function, x: Any) -> Any:
    """The derivatives of all outputs by all inputs: an array of shape `output.shape + input.shape`.

    >>> import numpy as np
    >>> jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    returned: list[Any] = []
    before = primitives.calls[0]

    def kept(x: Any) -> Any:
        returned.append(fun(x))
        if np.iscomplexobj(plain(returned[0])):
            raise TypeError(
                f"jacobian: {get_name(fun)} returned complex numbers; real ones are wanted.\n{Location.here().show()}\n"
                f"  fix: np.stack([np.real(y), np.imag(y)]) of the result"
            )
        if primitives.calls[0] != before:
            raise _OneByOne
        return returned[0]

    try:
        with tracing():
            blocks = gt.jacobian(kept)(floating(x))
    except _OneByOne:
        return _row_by_row(fun, x)
    return rebuild(blocks, [conjugate(leaf) for leaf in leaves(settled_structure(blocks))])


class _OneByOne(Exception):
    """A primitive was met, whose rule need not be able to work on a batch of cotangents."""


def _row_by_row(fun: Function, x: Any) -> Any:
    traced = Traced(fun, x)
    rows = [traced.pull(unit) for unit in vspace(traced.result).standard_basis()]
    return np.reshape(np.stack(rows), (*np.shape(traced.result), *np.shape(x)))


@unary_to_nary
def holomorphic_grad(fun: Function, x: Any) -> Any:
    """The complex derivative of a holomorphic function.

    >>> holomorphic_grad(lambda z: z**2)(1.0 + 2.0j)
    np.complex128(2+4j)
    """
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: Function, argname: str) -> Function:
    """The gradient with respect to the argument of that name.

    >>> grad_named(lambda x, y: x * y, "y")(2.0, 3.0)
    np.float64(2.0)
    """
    arguments = list(inspect.signature(fun).parameters)
    if argname not in arguments:
        raise ValueError(f"grad_named: {get_name(fun)} has no argument {argname!r}; it has {', '.join(arguments)}")
    return grad(fun, arguments.index(argname))  # type: ignore[no-any-return]


@unary_to_nary
def hessian(fun: Function, x: Any) -> Any:
    """The second derivatives: an array of shape `output.shape + input.shape + input.shape`.

    >>> import numpy as np
    >>> hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Function, x: Any) -> tuple[Function, Any]:
    """The function from a vector to the Hessian times it, and the gradient.

    >>> hvp, gradient = make_hvp(lambda x: x**3)(2.0)
    >>> hvp(1.0), gradient
    (np.float64(12.0), np.float64(12.0))
    """
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """A function of `(*args, tensor)`: the Hessian times the tensor, without building the Hessian.

    >>> import numpy as np
    >>> hessian_tensor_product(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    gradient = grad(fun, argnum)

    def product(*args: Any, **kwargs: Any) -> Any:
        *arguments, tensor = args
        return make_jvp(gradient, argnum)(*arguments, **kwargs)(tensor)[1]

    return product


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """A function of `(*args, tensor)`: the tensor, summed over its axes, times the Jacobian.

    >>> import numpy as np
    >>> tensor_jacobian_product(lambda x: x**3)(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 3., 12.])
    """

    def contracted(*args: Any, **kwargs: Any) -> Any:
        *arguments, tensor = args
        return np.tensordot(tensor, fun(*arguments, **kwargs), axes=np.ndim(tensor))

    return jacobian(contracted, argnum)  # type: ignore[no-any-return]


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Function, x: Any) -> Function:
    """The function from a tangent of `x` to that of `fun(x)`, which runs once."""
    return _pusher(fun, x)[1]


def _pusher(fun: Function, x: Any) -> tuple[Any, Function]:
    value, push = gt.linearize(fun, x)
    return settled_structure(value), lambda v: settled_structure(push(v))


def make_ggnvp(f: Function, g: Function | None = None, f_argnum: int = 0) -> Function:
    """Products of a vector with the generalised Gauss-Newton matrix of `g(f(x))`; `g` is half the squared length.

    >>> import numpy as np
    >>> make_ggnvp(lambda x: x**3)(np.array([1.0, 2.0]))(np.array([1.0, 1.0]))
    array([  9., 144.])
    """
    outer = g if g is not None else lambda y: 0.5 * np.sum(y**2, axis=-1)

    @unary_to_nary
    def make(fun: Function, x: Any) -> Function:
        pull_back, value = _make_vjp(fun, x)
        curvature, _ = _make_vjp(grad(outer), value)
        push = _pusher(fun, x)[1]
        return lambda v: pull_back(curvature(push(v)))

    return make(f, f_argnum)  # type: ignore[no-any-return]


@unary_to_nary
def grad_and_aux(fun: Function, x: Any) -> tuple[Any, Any]:
    """The gradient of the first of two outputs, and the second as it is.

    >>> grad_and_aux(lambda x: (x**2, x * 3))(2.0)
    (np.float64(4.0), np.float64(6.0))
    """
    aside: list[Any] = []

    def first(x: Any) -> Any:
        value, aux = fun(x)
        aside.append(aux)
        return value

    traced = Traced(first, x)
    gradient = traced.pull(vspace(traced.result).ones(), last=True)
    return gradient, settled_structure(aside[0])


def multigrad_dict(fun: Function) -> Function:
    """The gradients with respect to all arguments at once, in a dictionary by their names.

    >>> multigrad_dict(lambda x, y=2.0: x * y)(3.0)
    {'x': array(2.), 'y': array(3.)}
    """
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_arguments(arguments: dict[str, Any]) -> Any:
            call = inspect.BoundArguments(signature, OrderedDict(arguments))
            return fun(*call.args, **call.kwargs)

        found: dict[str, Any] = grad(of_arguments)(dict(bound.arguments))
        return found

    return gradients


__getattr__ = missing_names.missing(__name__)
