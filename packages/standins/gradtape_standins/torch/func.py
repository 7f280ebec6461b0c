"""`torch.func`: functions in, functions out."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import array_of, leaves, map_structure
from gradtape_standins.missing_names import missing
from gradtape_standins.torch import dtypes, random
from gradtape_standins.torch.errors import as_torch, translating
from gradtape_standins.torch.tensor import Tensor, unwrap, wrap

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
Function = Callable[..., Any]


def _values(tree: Any) -> Any:
    """Nested tensors as values."""
    return map_structure(unwrap, tree)


def _tensors(tree: Any) -> Any:
    """Nested values as tensors."""
    return map_structure(wrap, tree)


def _plainly(func: Function) -> Function:
    """A function of nested tensors as one of nested values."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return _values(func(*_tensors(list(args)), **_tensors(kwargs)))

    called.__name__ = getattr(func, "__name__", type(func).__name__)
    return called


def _transformed(func: Function, transform: Callable[[Function], Function]) -> Function:
    """`transform` of a function of tensors, as a function of tensors."""
    inner = transform(_plainly(func))

    def called(*args: Any, **kwargs: Any) -> Any:
        with translating():
            return _tensors(inner(*_values(list(args)), **_values(kwargs)))

    return functools.wraps(func)(called) if hasattr(func, "__name__") else called


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """A function that returns the gradient of `func`.

    >>> from gradtape_standins import torch
    >>> torch.func.grad(torch.sin)(torch.tensor(0.0))
    tensor(1.)
    """
    return _transformed(func, lambda f: gt.grad(f, argnums, has_aux))


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """A function that returns the gradient of `func` and its value (with `has_aux`, the value and aux)."""
    inner = _transformed(func, lambda f: gt.value_and_grad(f, argnums, has_aux))

    def called(*args: Any, **kwargs: Any) -> Any:
        value, gradient = inner(*args, **kwargs)
        return gradient, value

    return called


def vmap(
    func: Function, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Function:
    """`func`, written for one example, for a batch of them at once.

    >>> from gradtape_standins import torch
    >>> torch.func.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"vmap: randomness={randomness!r}; 'error', 'different' and 'same' are accepted")

    def called(*args: Any, **kwargs: Any) -> Any:
        entered = []

        def told(mode: Any, *args: Any, **kwargs: Any) -> Any:
            """`func`, while random functions know what to do about examples."""
            entered.append(True)
            random.mapped.append(mode)
            try:
                return func(*args, **kwargs)
            finally:
                random.mapped.pop()

        given, dims = [], in_dims
        inner: Function = functools.partial(told, randomness)
        if randomness == "different":
            each = tuple(in_dims) if isinstance(in_dims, (list, tuple)) else (in_dims,) * len(args)
            given, dims = [np.zeros(_examples(args, each), dtypes.default())], (0, *each)
            inner = lambda token, *args, **kwargs: told(token._value, *args, **kwargs)
        try:
            written = _Written()
            mapping = gt.vmap(written.watched(inner), dims, (out_dims, 0))
            found, changed = mapping(*given, *_values(list(args)), **_values(kwargs))
            axes = _axes_of((*((None,) * len(given)), *args), dims)
            written.put_back(leaves([*given, *args]), axes, changed)
            return _tensors(found)
        except gt.GradTapeError as error:
            raise as_torch(error, None if entered else ValueError) from error.__cause__

    return functools.wraps(func)(called) if hasattr(func, "__name__") else called


class _Written:
    """Which of the arguments of a mapped function it has written to in place: those of the caller are written to."""

    def __init__(self) -> None:
        self.places: list[int] = []

    def watched(self, func: Function) -> Function:
        """`func` as a function of values, which returns the arguments that were written to besides its results."""

        def called(*args: Any, **kwargs: Any) -> Any:
            tensors = _tensors(list(args))
            flat = leaves(tensors)
            result = func(*tensors, **_tensors(kwargs))
            self.places = [place for place, x in enumerate(flat) if isinstance(x, Tensor) and x._written]
            return _values(result), [flat[place]._value for place in self.places]

        called.__name__ = getattr(func, "__name__", type(func).__name__)
        return called

    def put_back(self, flat: list[Any], axes: list[int | None], changed: list[Any]) -> None:
        """Write what became of each argument, whose examples lie along the first axis, to that of the caller."""
        for place, value in zip(self.places, changed, strict=True):
            target, axis = flat[place], axes[place]
            if axis is None:
                array = array_of(value)
                if not np.array_equal(np.broadcast_to(array[:1], array.shape), array, equal_nan=True):
                    raise RuntimeError(
                        "vmap: an argument that is not mapped (in_dims=None) was written to with what differs between "
                        "examples.\n  fix: map it too, or write to x.clone()"
                    )
                value = value[0]
            elif axis:
                value = gt.moveaxis(value, 0, axis)
            target._write(value, "a write inside of vmap")


def _axes_of(args: Any, dims: Any) -> list[int | None]:
    """The axis along which each leaf of the arguments is mapped; None where it is not."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(leaves(args))
    if isinstance(args, dict):
        return [axis for key in args for axis in _axes_of(args[key], dims[key])]
    return [axis for arg, dim in zip(args, dims, strict=True) for axis in _axes_of(arg, dim)]


def _examples(args: Any, dims: Any) -> int:
    """How many examples there are: the length of the first axis that is mapped."""
    for dim, given in zip(dims, args):
        if isinstance(dim, int):
            found = [leaf.shape[dim] for leaf in leaves(given) if isinstance(leaf, Tensor) and leaf.ndim]
        else:
            inside = dim if isinstance(dim, (list, tuple, dict)) else ()
            keys = list(inside) if isinstance(inside, dict) else range(len(inside))
            found = [_examples([given[key] for key in keys], [dim[key] for key in keys])]
        if any(found):
            return int(found[0])
    return 0


def _with_aux(func: Function, transform: Callable[[Function], Function], has_aux: bool) -> Function:
    """`transform` of a function that returns, with `has_aux`, a pair of its value and something to hand through."""
    if not has_aux:
        return _transformed(func, transform)
    kept: list[Any] = []

    def first(*args: Any, **kwargs: Any) -> Any:
        value, aux = func(*args, **kwargs)
        kept.append(map_structure(lambda x: x.detach() if isinstance(x, Tensor) else x, aux))
        return value

    inner = _transformed(first, transform)

    def called(*args: Any, **kwargs: Any) -> Any:
        kept.clear()
        answer = inner(*args, **kwargs)
        return answer, kept[0]

    return called


def jacrev(func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: Any = None) -> Function:
    """The derivatives of every output element by every input element, backwards."""
    return _with_aux(func, lambda f: gt.jacrev(f, argnums), has_aux)


def jacfwd(func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """The derivatives of every output element by every input element, forwards."""
    return _with_aux(func, lambda f: gt.jacfwd(f, argnums), has_aux)


def hessian(func: Function, argnums: Any = 0) -> Function:
    """The second derivatives: the Jacobian, forwards, of the Jacobian, backwards."""
    return jacfwd(jacrev(func, argnums), argnums)


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The value at `primals`, and the function that pulls cotangents back: a tensor for one primal, or a tuple."""
    with translating():
        found = gt.vjp(_plainly(func), *_values(list(primals)), has_aux=has_aux)

    def pull_back(*cotangents: Any) -> Any:
        with translating():
            answers = found[1](_values(cotangents[0] if len(cotangents) == 1 else cotangents))
            return tuple(_tensors(list(answers)))

    return (_tensors(found[0]), pull_back, *(_tensors(rest) for rest in found[2:]))


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The value at `primals`, and the derivative in the direction `tangents`."""
    with translating():
        return _tensors(gt.jvp(_plainly(func), _values(list(primals)), _values(list(tangents)), has_aux))


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """The value at `primals`, and the derivative there as a linear function."""
    with translating():
        value, push = gt.linearize(_plainly(func), *_values(list(primals)))

    def pushed(*tangents: Any) -> Any:
        with translating():
            return _tensors(push(*_values(list(tangents))))

    return _tensors(value), pushed


def functionalize(func: Function, *, remove: str = "mutations") -> Function:
    """The function itself: what is written in place is written out of place here anyway."""
    return func


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Any = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers."""
    given: dict[str, Tensor] = {}
    several = isinstance(parameter_and_buffer_dicts, (list, tuple))
    for each in parameter_and_buffer_dicts if several else [parameter_and_buffer_dicts]:
        given.update(each)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with module._swapped(given, strict):
        return module(*arguments, **(kwargs or {}))


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several modules of one kind, along a first axis."""
    from gradtape_standins.torch.joining import stack

    def stacked(rows: list[dict[str, Tensor]], requires_grad: bool) -> dict[str, Tensor]:
        made = {name: stack([row[name].detach() for row in rows]) for name in rows[0]}
        return {name: tensor.requires_grad_(requires_grad) for name, tensor in made.items()}

    parameters = stacked([dict(model.named_parameters()) for model in models], True)
    return parameters, stacked([dict(model.named_buffers()) for model in models], False)


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Have batch norms use the statistics of the batch and keep none, so that nothing is written within `vmap`."""
    for module in root.modules():
        if hasattr(module, "running_mean"):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            object.__setattr__(module, "track_running_stats", False)
    return root


__getattr__ = missing(__name__)
