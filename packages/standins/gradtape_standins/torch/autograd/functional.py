"""`torch.autograd.functional`: jacobian, hessian, vjp, jvp, vhp, hvp of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.tensor import Tensor, unwrap, wrap

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
Function = Callable[..., Any]


def plainly(func: Function) -> Function:
    """A function of tensors as one of gradtape's values."""

    def called(*values: Any, **named: Any) -> Any:
        return unwrap(func(*wrap(list(values)), **wrap(named)))

    called.__name__ = getattr(func, "__name__", type(func).__name__)
    return called


def _given(inputs: Any) -> tuple[list[Any], bool]:
    single = not isinstance(inputs, (list, tuple))
    for given in [inputs] if single else inputs:
        if not isinstance(given, Tensor):
            raise TypeError(
                "The inputs given must be either a Tensor or a tuple of Tensors, but the given inputs have type "
                f"{type(given)}.\n  fix: torch.tensor(x)"
            )
    return [x._value for x in ([inputs] if single else inputs)], single


def _shown(answer: Any, create_graph: bool) -> Any:
    """An answer as tensors; on the graph only where that was asked for."""
    if create_graph:
        return wrap(answer)
    return wrap(gt.core.pytree.map_structure(lambda x: gt.stop_gradient(x) if hasattr(x, "shape") else x, answer))


def _check(
    name: str, func: Function, inputs: Any, strict: bool, is_second: bool = False, create_graph: bool = False
) -> Function:
    """`func`, whose results are refused unless they are tensors; with `strict`, unless they depend on the inputs.

    With `is_second` or `create_graph`, their derivatives have to depend on the inputs too.
    """

    def checked(*args: Any, **kwargs: Any) -> Any:
        outputs = func(*args, **kwargs)
        for output in outputs if isinstance(outputs, tuple) else (outputs,):
            if not isinstance(output, Tensor):
                raise TypeError(
                    f"The outputs of the user-provided function given to {name} must be either a Tensor or a tuple of "
                    f"Tensors but the given outputs have type {type(output)}.\n  fix: return torch.as_tensor(value)"
                )
        return outputs

    checked.__name__ = getattr(func, "__name__", type(func).__name__)
    if strict:
        _check_dependence(name, checked, inputs, is_second, create_graph)
    return checked


def _check_dependence(name: str, func: Function, inputs: Any, is_second: bool, create_graph: bool) -> None:
    """Raise unless each output depends on each input; and its derivatives do, if these are to be differentiated."""
    from gradtape_standins.torch.autograd import grad

    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    with gt.enable_grad():
        places = [x.detach().requires_grad_() for x in given]
        outputs = func(*places)
        for number, output in enumerate(outputs if isinstance(outputs, tuple) else (outputs,)):
            if not output.requires_grad:
                raise RuntimeError(
                    f"Output {number} of the user-provided function does not require gradients: {name} with "
                    "strict=True accepts outputs that are computed from the inputs by differentiable operations.\n"
                    "  fix: strict=False, which takes its derivatives for zeros"
                )
            seed = wrap(gt.ones_like(gt.stop_gradient(output._value)))
            found = grad(output, places, seed, create_graph=is_second or create_graph, allow_unused=True)
            for place, gradient in enumerate(found):
                if gradient is None:
                    raise RuntimeError(
                        f"Output {number} of the user-provided function is independent of input {place}, which {name} "
                        "does not allow with strict=True.\n  fix: strict=False, or leave that input out"
                    )
                if (is_second or create_graph) and not gradient.requires_grad:
                    raise RuntimeError(
                        f"The jacobian of the user-provided function with respect to input {place} is independent of "
                        f"the input, which {name} does not allow with strict=True.\n"
                        "  fix: strict=False, which takes its derivatives for zeros"
                    )


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of every output element by every input element.

    >>> from gradtape_standins import torch
    >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(f'Expected strategy to be either "forward-mode" or "reverse-mode", but got {strategy!r}')
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            'jacobian: strategy="forward-mode" is implemented for vectorize=True only.\n  fix: vectorize=True'
        )
    if strict and vectorize:
        raise RuntimeError(
            "jacobian: strict=True and vectorize=True are not supported together.\n  fix: one of the two"
        )
    values, single = _given(inputs)
    func = _check("jacobian", func, inputs, strict, create_graph=create_graph)
    transform = gt.jacfwd if strategy == "forward-mode" else gt.jacrev
    with translating():
        argnums: Any = 0 if single else tuple(range(len(values)))
        return _shown(transform(plainly(func), argnums)(*values), create_graph)


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function of one number."""
    values, single = _given(inputs)
    func = _check("hessian", func, inputs, strict, True)
    with translating():
        argnums: Any = 0 if single else tuple(range(len(values)))
        return _shown(gt.hessian(plainly(func), argnums)(*values), create_graph)


def _seed(v: Any, like: Any, what: str) -> Any:
    if v is None:
        shapes = [list(x.shape) for x in gt.core.pytree.leaves(like)]
        if any(x.size != 1 for x in gt.core.pytree.leaves(like)):
            raise RuntimeError(
                f"{what}: the vector v can only be left out for one number; the shapes are {shapes}.\n"
                "  fix: v of that shape"
            )
        return gt.core.pytree.map_structure(gt.ones_like, like)
    return unwrap(v)


def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The value, and v times the Jacobian."""
    values, single = _given(inputs)
    func = _check("vjp", func, inputs, strict, create_graph=create_graph)
    with translating():
        output, pull_back = gt.vjp(plainly(func), *values)
        found = pull_back(_seed(v, output, "vjp"))
        return _shown(output, create_graph), _shown(found[0] if single else tuple(found), create_graph)


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The value, and the Jacobian times v."""
    values, single = _given(inputs)
    func = _check("jvp", func, inputs, strict, create_graph=create_graph)
    with translating():
        seed = _seed(v, values[0] if single else values, "jvp")
        tangents = [seed] if single else list(seed)
        output, moved = gt.jvp(plainly(func), values, tangents)
        return _shown(output, create_graph), _shown(moved, create_graph)


def hvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The value, and the Hessian times v."""
    values, single = _given(inputs)
    plain = plainly(_check("hvp", func, inputs, strict, True))
    with translating():
        seed = _seed(v, values[0] if single else values, "hvp")
        tangents = [seed] if single else list(seed)
        gradient = gt.grad(plain, tuple(range(len(values))))
        _, moved = gt.jvp(gradient, values, tangents)
        return _shown(plain(*values), create_graph), _shown(moved[0] if single else tuple(moved), create_graph)


def vhp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The value, and v times the Hessian, which is symmetric."""
    return hvp(func, inputs, v, create_graph, strict)


__getattr__ = missing(__name__)
