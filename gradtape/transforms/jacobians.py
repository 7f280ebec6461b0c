"""Jacobians and Hessians: one batched pass over a recorded run, backwards or forwards."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import Units, for_each_row
from gradtape.core.explain_hooks import any_zero_or_nonfinite
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor
from gradtape.explain import messages
from gradtape.transforms.gradients import (
    Function,
    RecordedCall,
    called_by_user,
    check_argnums,
    check_function,
    choose_arguments,
    grad,
    jvp,
    none_recorded,
    record_call,
    warn_unused,
)


def jacobian(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The derivatives of every output element by every input element: shape `output.shape + input.shape`.

    One batched walk, backwards or forwards, whichever has fewer rows.

    >>> import numpy as np, gradtape as gt
    >>> gt.jacobian(lambda x: x ** 2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(function, argnums, "jacobian")


def jacrev(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """`jacobian` by one batched walk back: for functions with few outputs.

    >>> import numpy as np, gradtape as gt
    >>> gt.jacrev(np.sum)(np.array([1.0, 2.0]))
    array([1., 1.])
    """
    return _jacobian(function, argnums, "jacrev")


def jacfwd(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """`jacobian` by one batched push forward: for functions with few inputs.

    >>> import numpy as np, gradtape as gt
    >>> gt.jacfwd(lambda t: np.stack([t, t ** 2]))(3.0)
    array([1., 6.])
    """
    return _jacobian(function, argnums, "jacfwd")


def _jacobian(function: Function, argnums: int | Sequence[int], mode: str, explains: bool = True) -> Function:
    check_function(function, mode)
    check_argnums(mode, argnums)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers, single = choose_arguments(function, args, argnums)
        run = record_call(function, args, kwargs, numbers)
        outputs = leaves(run.result)
        for output in outputs:
            if output is None:
                raise messages.returned_none(run.name)
        rows_out = sum(int(np.size(o)) for o in outputs)
        rows_in = sum(s.size for s in run.sources)
        backwards = mode == "jacrev" or (mode == "jacobian" and rows_out <= rows_in)
        found = _pulled(run, outputs) if backwards else _pushed(run, outputs)
        for output, row in zip(outputs, found):
            if isinstance(output, Tensor) and any_zero_or_nonfinite(row):
                from gradtape.explain.kernel.per_row import examine_rows

                unit = Units(np.ones(output.shape, output.dtype))
                examine_rows(output, unit, run.tape.bit, list(zip(run.nodes, row)), run.held)
        if explains and none_recorded(outputs, run.tape.bit) and called_by_user():
            warn_unused(run, outputs[0], [None] * len(run.sources))
        blocks = [
            [_block(part, np.shape(output), source) for part, source in zip(row, run.sources, strict=True)]
            for output, row in zip(outputs, found, strict=True)
        ]
        answers = []
        for row in blocks:
            parts = run.in_structure(run.as_given(row))
            answers.append(parts[0] if single else tuple(parts))
        return rebuild(run.result, answers)

    return wrapped


def _pulled(run: RecordedCall, outputs: list[Any]) -> list[list[Any]]:
    """For each output and each source, the derivatives with an axis for the output's elements in front; or None."""
    widest = max([source.size for source in run.sources], default=1)
    rows = []
    for output in outputs:
        found: list[Any] = [None] * len(run.sources)
        if isinstance(output, Tensor) and output.dtype.kind in "fc":
            basis = Units(np.ones(output.shape, output.dtype))
            pull = functools.partial(_pull_row, run, output)
            found = for_each_row(pull, basis, max(widest, output.size))
        rows.append(found)
    return rows


def _pull_row(run: RecordedCall, output: Tensor, seed: Any, last: bool) -> list[Any]:
    return run.pull_back([output], [seed])


def _block(rows: Any, output_shape: tuple[int, ...], source: Tensor) -> Any:
    shape = output_shape + source.shape
    if rows is None:
        return np.zeros(shape, source.dtype)
    return rows if rows.shape == shape else rows.reshape(shape)


def _pushed(run: RecordedCall, outputs: list[Any]) -> list[list[Any]]:
    """For each output and each source, the derivatives with an axis for the source's elements behind; or None."""
    widest = max([int(np.size(output)) for output in outputs], default=1)
    columns = []
    for index, source in enumerate(run.sources):
        basis = Units(np.ones(source.shape, source.dtype))
        push = functools.partial(_push_row, run, outputs, index)
        pushed = for_each_row(push, basis, max(widest, source.size))
        columns.append([None if t is None else np.moveaxis(t, 0, -1) for t in pushed])
    return [[column[index] for column in columns] for index in range(len(outputs))]


def _push_row(run: RecordedCall, outputs: list[Any], index: int, tangent: Any, last: bool) -> list[Any]:
    tangents: list[Any] = [None] * len(run.sources)
    tangents[index] = tangent
    return run.push(outputs, tangents)


def hessian(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The second derivatives of a function of one number: shape `input.shape + input.shape`.

    >>> import numpy as np, gradtape as gt
    >>> gt.hessian(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    check_function(function, "hessian")
    check_argnums("hessian", argnums)
    return _jacobian(grad(function, argnums), argnums, "jacfwd", explains=False)  # zeros here: the function is linear


def hvp(function: Function, x: Any, v: Any, *args: Any) -> Any:
    """The Hessian of `function(x, *args)` at `x` times `v`, without building the Hessian.

    >>> import numpy as np, gradtape as gt
    >>> gt.hvp(lambda x: np.sum(x ** 3), np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    check_function(function, "hvp")
    return jvp(lambda x: grad(function)(x, *args), (x,), (v,))[1]
