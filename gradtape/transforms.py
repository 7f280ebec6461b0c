"""Functions in, functions out: grad, value_and_grad, vjp, jvp, linearize, Jacobians, Hessians, vmap.

All stand on one thing: `_record` runs a function on tracked copies of its arguments, and what it returns can be pulled
back (reverse) and pushed through (forward) as often as needed. Arguments and results are nested structures throughout.
NumPy in, NumPy out; tensors in, tensors out.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.batch import BatchLevel, BatchTensor, unbatch
from gradtape.core.forward import ForwardAccumulator
from gradtape.core.graph import AMBIENT, UNTRACKED, Node, push_through, walk
from gradtape.core.location import Location
from gradtape.core.operation import attach
from gradtape.core.structure import aligned, leaves, map_structure, rebuild
from gradtape.core.tape import GradientTape, check_seed
from gradtape.core.tensor import Tensor, check_differentiable, is_tracked, tensor
from gradtape.errors import GradientWarning, OperandError, ShapeError
from gradtape.ops import positive

Function = Callable[..., Any]


class _Recorded:
    """One run of a function: its tracked arguments, its results, and the graph between them."""

    def __init__(self, function: Function, chosen: list[Any], call: Callable[[list[Any]], Any]) -> None:
        self.name = getattr(function, "__name__", "the function")
        self.chosen = chosen
        self.tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self.given = [leaf for argument in chosen for leaf in leaves(argument)]
        self.sources = [_tracked_copy(leaf, self.tape, self.name) for leaf in self.given]
        self.was_numpy = not any(isinstance(leaf, Tensor) for leaf in self.given)
        supply = iter(self.sources)
        arguments = [rebuild(argument, [next(supply) for _ in leaves(argument)]) for argument in chosen]
        with self.tape:
            self.result = call(arguments)

    @property
    def nodes(self) -> list[Node]:
        return [source._node for source in self.sources]

    def pull_back(self, outputs: list[Any], cotangents: list[Any], last: bool = False) -> list[Any]:
        """The cotangents of the sources, None where there is no path."""
        seeds = [(o._node, c) for o, c in zip(outputs, cotangents, strict=True) if isinstance(o, Tensor)]
        release = Location(None, 0) if last else None
        found = walk(seeds, self.tape.bit, sources=self.nodes, attach=_attach_for(outputs), release=release)
        return [found.get(node) for node in self.nodes]

    def push(self, outputs: list[Any], tangents: list[Any]) -> list[Any]:
        """The tangents of the outputs, None where there is no path."""
        targets = [o._node if isinstance(o, Tensor) else UNTRACKED for o in outputs]
        seeds = dict(zip(self.nodes, tangents, strict=True))
        return push_through(targets, seeds, self.tape.bit, _attach_for(outputs))

    def answer(self, values: list[Any]) -> list[Any]:
        """`values`, one for each source, as arrays where the source was one and as tensors otherwise."""
        seen: set[int] = set()
        return [
            _handed_out(v, not isinstance(given, Tensor), seen) for v, given in zip(values, self.given, strict=True)
        ]

    def in_structure(self, values: list[Any]) -> list[Any]:
        """`values`, one for each source, in the structures of the chosen arguments."""
        supply = iter(values)
        return [rebuild(argument, [next(supply) for _ in leaves(argument)]) for argument in self.chosen]

    def why_unconnected(self, output: Any, index: int) -> str:
        return self.tape.why(output, self.sources[index])


def _tracked_copy(value: Any, tape: GradientTape, name: str) -> Tensor:
    """A new place on the graph for `value`, so that two derivatives of the same tensor do not meet."""
    fresh = positive(value) if isinstance(value, Tensor) and value.dtype.kind in "fc" else _as_tensor(value)
    check_differentiable(fresh.dtype, f"an argument of {name}", fresh.shape)
    tape.watch(fresh)
    return fresh


def _as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else tensor(value)


def _attach_for(outputs: Sequence[Any]) -> Any:
    """Whether what is computed now will be recorded by someone, and so has to be computed with tensors."""
    bits = recording.current().bits
    ambient = any(isinstance(o, Tensor) and o._node.bits & AMBIENT for o in outputs)
    return attach if bits & ~AMBIENT or (ambient and bits & AMBIENT) else None


def _handed_out(value: Any, as_numpy: bool, seen: set[int]) -> Any:
    """A result for the user: nobody else's memory, and plain NumPy if that is what came in."""
    if isinstance(value, Tensor):
        if not as_numpy or type(value) is not Tensor or is_tracked(value):
            return value
        value = value._array
    if not as_numpy:
        return Tensor(value)
    if isinstance(value, np.ndarray) and value.ndim:
        shared = value.base is not None or not value.flags.writeable or id(value) in seen
        value = value.copy() if shared else value
        seen.add(id(value))
        return value
    return value[()] if isinstance(value, np.ndarray) else value


def _choose(function: Function, args: tuple[Any, ...], argnums: int | Sequence[int]) -> tuple[list[int], bool]:
    single = isinstance(argnums, int | np.integer)
    numbers = [argnums] if isinstance(argnums, int | np.integer) else list(argnums)
    name = getattr(function, "__name__", "the function")
    for number in numbers:
        if not isinstance(number, int | np.integer) or not -len(args) <= number < len(args):
            raise OperandError(
                f"argnums={argnums!r}: {name} was called with {len(args)} positional argument{'s' * (len(args) != 1)}.\n"
                f"{Location.here().show()}\n"
                f"  fix: pass what is differentiated by position, and give argnums from 0 to {max(len(args) - 1, 0)}"
            )
    return [int(number) % len(args) for number in numbers], bool(single)


def _record(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: list[int]) -> _Recorded:
    def call(chosen: list[Any]) -> Any:
        full = list(args)
        for number, value in zip(numbers, chosen, strict=True):
            full[number] = value
        return function(*full, **kwargs)

    return _Recorded(function, [args[number] for number in numbers], call)


def value_and_grad(function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """A function that returns the value of `function` and its gradient with respect to the arguments `argnums`.

    `function` returns one number (or, with `has_aux`, a pair of one number and anything else). The gradient has the
    structure, shapes and dtypes of the argument.

    >>> import numpy as np, gradtape as gt
    >>> value, gradient = gt.value_and_grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers, single = _choose(function, args, argnums)
        run = _record(function, args, kwargs, numbers)
        output, aux = _split_aux(run.result, has_aux, run.name)
        output = _one_number(output, run.name)
        seed = np.ones(output.shape, output.dtype)
        found = run.pull_back([output], [seed], last=True) if isinstance(output, Tensor) else [None] * len(run.sources)
        _warn_unused(run, output, found)
        filled = [np.zeros(s.shape, s.dtype) if g is None else g for g, s in zip(found, run.sources, strict=True)]
        gradients = run.in_structure(run.answer(filled))
        value = _handed_out(output, run.was_numpy, set())
        answer = gradients[0] if single else tuple(gradients)
        return ((value, aux), answer) if has_aux else (value, answer)

    return wrapped


def grad(function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """A function that returns the gradient of `function`; with `has_aux`, the pair of gradient and aux.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(lambda x: np.sum(np.sin(x)))(np.zeros(2))
    array([1., 1.])
    >>> gt.grad(gt.grad(lambda x: x ** 3))(2.0)
    np.float64(12.0)
    """
    with_value = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value, gradient = with_value(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


def _split_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise OperandError(
            f"has_aux=True: {name} must return a pair (value, aux); it returned {type(result).__name__}.\n"
            f"{Location.here().show()}"
        )
    return result[0], map_structure(lambda x: x, result[1])


def _one_number(output: Any, name: str) -> Any:
    if output is None:
        raise OperandError(
            f"{name} returned None; there is nothing to differentiate.\n{Location.here().show()}\n"
            f"  fix: is a return statement missing?"
        )
    if not isinstance(output, Tensor):
        try:
            output = np.asarray(output, dtype=np.result_type(output, np.float32) if not np.isscalar(output) else float)
        except (TypeError, ValueError):
            raise OperandError(
                f"{name} must return one number; it returned {type(output).__name__}.\n{Location.here().show()}\n"
                f"  fix: return the number that is to be differentiated; other results with has_aux=True"
            ) from None
    if output.size != 1:
        raise ShapeError(
            f"{name} returned shape {output.shape} ({output.size} elements); a gradient is of one number.\n"
            f"{output._node.location.show() if isinstance(output, Tensor) else Location.here().show()}\n"
            f"  fix: .mean() or .sum() before returning, gt.vjp to weigh the elements, or gt.jacobian for all of them"
        )
    check_differentiable(output.dtype, f"the value of {name}", output.shape)
    return output


def _warn_unused(run: _Recorded, output: Any, found: list[Any]) -> None:
    unused = [i for i, gradient in enumerate(found) if gradient is None and run.sources[i].size]
    if unused:
        reason = run.why_unconnected(output, unused[0])
        which = f"argument leaf {unused[0]} of {run.name}" if len(found) > 1 else f"the argument of {run.name}"
        warnings.warn(
            f"the value does not depend on {which} (shape {run.sources[unused[0]].shape}): its gradient is zeros.\n"
            f"{Location.here().show()}\n  {reason}",
            GradientWarning,
            stacklevel=3,
        )


def vjp(function: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The value of `function` at `primals`, and the function that pulls cotangents of the value back to them.

    >>> import numpy as np, gradtape as gt
    >>> value, pull_back = gt.vjp(np.sin, np.array([0.0, 1.0]))
    >>> pull_back(np.array([1.0, 0.0]))
    (array([1., 0.]),)
    """
    run = _record(function, primals, {}, list(range(len(primals))))
    result, aux = _split_aux(run.result, has_aux, run.name)
    outputs = leaves(result)

    def pull_back(cotangents: Any) -> tuple[Any, ...]:
        given = aligned(result, cotangents, "the value", "the cotangents")
        seeds = [check_seed(c, o, "cotangents") for c, o in zip(given, outputs, strict=True) if isinstance(o, Tensor)]
        found = run.pull_back([o for o in outputs if isinstance(o, Tensor)], seeds)
        filled = [np.zeros(s.shape, s.dtype) if g is None else g for g, s in zip(found, run.sources, strict=True)]
        return tuple(run.in_structure(run.answer(filled)))

    value = map_structure(lambda o: _handed_out(o, run.was_numpy, set()), result)
    return (value, pull_back, aux) if has_aux else (value, pull_back)


def linearize(function: Function, *primals: Any) -> tuple[Any, Function]:
    """The value of `function` at `primals`, and its derivative there as a linear function of tangents.

    The function runs once; the linear function can be called many times.

    >>> import numpy as np, gradtape as gt
    >>> value, push = gt.linearize(np.sin, np.array([0.0, 1.0]))
    >>> push(np.array([1.0, 0.0]))
    array([1., 0.])
    """
    run = _record(function, primals, {}, list(range(len(primals))))
    outputs = leaves(run.result)

    def push(*tangents: Any) -> Any:
        seeds = _checked_tangents(primals, tangents, run.sources)
        pushed = run.push(outputs, seeds)
        return _tangent_structure(run.result, outputs, pushed, run.was_numpy)

    return map_structure(lambda o: _handed_out(o, run.was_numpy, set()), run.result), push


def jvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of `function` at `primals`, and its derivative in the direction `tangents`, in one forward pass.

    >>> import numpy as np, gradtape as gt
    >>> gt.jvp(np.sin, (np.array([0.0]),), (np.array([2.0]),))
    (array([0.]), array([2.]))
    """
    if not isinstance(primals, list | tuple) or not isinstance(tangents, list | tuple):
        raise OperandError(
            f"jvp: primals and tangents are tuples with one entry for each argument; got {type(primals).__name__} and "
            f"{type(tangents).__name__}.\n{Location.here().show()}\n  fix: gt.jvp(f, (x,), (v,))"
        )
    given = [leaf for primal in primals for leaf in leaves(primal)]
    was_numpy = not any(isinstance(leaf, Tensor) for leaf in given)
    sources = [positive(x) if isinstance(x, Tensor) and x.dtype.kind in "fc" else _as_tensor(x) for x in given]
    seeds = _checked_tangents(primals, tangents, sources)
    with ForwardAccumulator(sources, seeds) as accumulator:
        supply = iter(sources)
        result = function(*(rebuild(primal, [next(supply) for _ in leaves(primal)]) for primal in primals))
    result, aux = _split_aux(result, has_aux, getattr(function, "__name__", "the function"))
    outputs = leaves(result)
    pushed = [accumulator.jvp(o) if isinstance(o, Tensor) else None for o in outputs]
    value = map_structure(lambda o: _handed_out(o, was_numpy, set()), result)
    tangent = _tangent_structure(result, outputs, pushed, was_numpy)
    return (value, tangent, aux) if has_aux else (value, tangent)


def _checked_tangents(primals: Any, tangents: Any, sources: list[Tensor]) -> list[Any]:
    given = aligned(tuple(primals), tuple(tangents), "primals", "tangents")
    return [check_seed(t, source, "tangents") for t, source in zip(given, sources, strict=True)]


def _tangent_structure(result: Any, outputs: list[Any], pushed: list[Any], as_numpy: bool) -> Any:
    filled = [
        np.zeros(np.shape(o), getattr(o, "dtype", float)) if t is None else t
        for o, t in zip(outputs, pushed, strict=True)
    ]
    return rebuild(result, [_handed_out(t, as_numpy, set()) for t in filled])


# -- Jacobians and Hessians


def jacobian(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The derivatives of every output element by every input element: shape `output.shape + input.shape`.

    One batched walk, backwards or forwards, whichever has fewer rows.

    >>> import numpy as np, gradtape as gt
    >>> gt.jacobian(lambda x: x ** 2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(function, argnums, None)


def jacrev(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """`jacobian` by one batched walk back: for functions with few outputs.

    >>> import numpy as np, gradtape as gt
    >>> gt.jacrev(np.sum)(np.array([1.0, 2.0]))
    array([1., 1.])
    """
    return _jacobian(function, argnums, "reverse")


def jacfwd(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """`jacobian` by one batched push forward: for functions with few inputs.

    >>> import numpy as np, gradtape as gt
    >>> gt.jacfwd(lambda t: np.stack([t, t ** 2]))(3.0)
    array([1., 6.])
    """
    return _jacobian(function, argnums, "forward")


def _jacobian(function: Function, argnums: int | Sequence[int], mode: str | None) -> Function:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers, single = _choose(function, args, argnums)
        run = _record(function, args, kwargs, numbers)
        outputs = leaves(run.result)
        for output in outputs:
            if output is None:
                _one_number(output, run.name)
        rows_out = sum(int(np.size(o)) for o in outputs)
        rows_in = sum(s.size for s in run.sources)
        backwards = mode == "reverse" or (mode is None and rows_out <= rows_in)
        blocks = _blocks_by_pulling(run, outputs) if backwards else _blocks_by_pushing(run, outputs)
        answers = []
        for row in blocks:
            parts = run.in_structure(run.answer(row))
            answers.append(parts[0] if single else tuple(parts))
        return rebuild(run.result, answers)

    return wrapped


def _blocks_by_pulling(run: _Recorded, outputs: list[Any]) -> list[list[Any]]:
    blocks = []
    for output in outputs:
        found: list[Any] = [None] * len(run.sources)
        if isinstance(output, Tensor) and output.dtype.kind in "fc":
            level = BatchLevel(output.size)
            basis = np.eye(output.size, dtype=output.dtype).reshape(-1, *output.shape)
            pulled = run.pull_back([output], [BatchTensor(basis, level)])
            found = [None if c is None else unbatch(c, level) for c in pulled]
        blocks.append([_block(f, np.shape(output), s) for f, s in zip(found, run.sources, strict=True)])
    return blocks


def _block(rows: Any, output_shape: tuple[int, ...], source: Tensor) -> Any:
    shape = output_shape + source.shape
    return np.zeros(shape, source.dtype) if rows is None else rows.reshape(shape)


def _blocks_by_pushing(run: _Recorded, outputs: list[Any]) -> list[list[Any]]:
    columns = []
    for index, source in enumerate(run.sources):
        level = BatchLevel(source.size)
        basis = np.eye(source.size, dtype=source.dtype).reshape(-1, *source.shape)
        tangents: list[Any] = [None] * len(run.sources)
        tangents[index] = BatchTensor(basis, level)
        pushed = run.push(outputs, tangents)
        columns.append([None if t is None else np.moveaxis(unbatch(t, level), 0, -1) for t in pushed])
    return [
        [_block(columns[j][i], np.shape(output), source) for j, source in enumerate(run.sources)]
        for i, output in enumerate(outputs)
    ]


def hessian(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The second derivatives of a function of one number: shape `input.shape + input.shape`.

    >>> import numpy as np, gradtape as gt
    >>> gt.hessian(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return jacfwd(grad(function, argnums), argnums)


def hvp(function: Function, x: Any, v: Any, *args: Any) -> Any:
    """The Hessian of `function(x, *args)` at `x` times `v`, without building the Hessian.

    >>> import numpy as np, gradtape as gt
    >>> gt.hvp(lambda x: np.sum(x ** 3), np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    return jvp(lambda x: grad(function)(x, *args), (x,), (v,))[1]


# -- vmap


def vmap(function: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
    """`function`, written for one example, applied to a batch of them at once.

    `in_axes` says which axis of each argument runs over the examples (None: the argument is the same for all); it may
    be a structure like the arguments. `out_axes` says where that axis goes in the results.

    >>> import numpy as np, gradtape as gt
    >>> gt.vmap(np.dot)(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [1.0, 0.0]]))
    array([3., 3.])
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        axes = _axes_for(args, in_axes, "in_axes")
        flat = leaves(args)
        size = _batch_size(flat, axes)
        level = BatchLevel(size)
        lifted = [
            x
            if axis is None
            else BatchTensor(np.moveaxis(x if isinstance(x, Tensor) else np.asarray(x), axis, 0), level)
            for x, axis in zip(flat, axes, strict=True)
        ]
        result = function(*rebuild(args, lifted), **kwargs)
        outputs = leaves(result)
        places = _axes_for(result, out_axes, "out_axes")
        as_numpy = not any(isinstance(x, Tensor) for x in flat)
        values = []
        for output, place in zip(outputs, places, strict=True):
            if place is None:
                if isinstance(output, BatchTensor) and output.level is level:
                    raise ShapeError(
                        f"out_axes=None for a result that differs between the {size} examples.\n{Location.here().show()}\n"
                        f"  fix: give it an axis, out_axes=0"
                    )
                values.append(output)
                continue
            batched = unbatch(output, level)
            values.append(_handed_out(np.moveaxis(batched, 0, place), as_numpy, set()))
        return rebuild(result, values)

    return wrapped


def _axes_for(tree: Any, axes: Any, what: str) -> list[Any]:
    """One axis (or None) for each leaf of `tree`, from `axes` given for the whole or for parts of it."""
    if axes is None or isinstance(axes, int | np.integer):
        return [axes] * len(leaves(tree))
    from gradtape.core.structure import children

    branch, given = children(tree), children(axes)
    if branch is None or given is None or len(branch) != len(given):
        raise OperandError(
            f"{what}={axes!r} does not match the structure it describes: "
            f"{len(branch) if branch is not None else 'one value'} here.\n{Location.here().show()}\n"
            f"  fix: one integer for all, or a tuple with an entry (an integer or None) for each"
        )
    return [axis for part, axis_part in zip(branch, given, strict=True) for axis in _axes_for(part, axis_part, what)]


def _batch_size(flat: list[Any], axes: list[Any]) -> int:
    sizes = {}
    for index, (x, axis) in enumerate(zip(flat, axes, strict=True)):
        if axis is None:
            continue
        shape = np.shape(x)
        if not -len(shape) <= axis < len(shape):
            raise ShapeError(
                f"vmap: argument {index} has shape {shape}, which has no axis {axis} to run over.\n{Location.here().show()}\n"
                f"  fix: in_axes=None for arguments that are the same for all examples"
            )
        sizes[index] = shape[axis]
    if not sizes:
        raise OperandError(
            f"vmap: in_axes is None for every argument.\n{Location.here().show()}\n  fix: give one of them an axis"
        )
    if len(set(sizes.values())) > 1:
        rows = "\n".join(
            f"    argument {i}: shape {np.shape(flat[i])}, {n} examples along axis {axes[i]}" for i, n in sizes.items()
        )
        raise ShapeError(
            f"vmap: arguments with different numbers of examples.\n{Location.here().show()}\n{rows}\n"
            f"  fix: in_axes=None for those that are the same for all examples"
        )
    return int(next(iter(sizes.values())))
