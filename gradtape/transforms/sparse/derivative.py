"""The functions: detect the pattern, colour it, send all colours through the recorded graph, read the entries off."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gradtape.core.batch import BatchTensor, for_each_row
from gradtape.core.graph import Node
from gradtape.core.location import Location
from gradtape.core.operation import Lifted
from gradtape.core.pytree import children
from gradtape.core.shapes import Shape
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.errors import DetachError, DtypeError, GradTapeError, OperandError, ShapeError, StructureError
from gradtape.explain import messages
from gradtape.transforms.gradients import Function, RecordedCall, as_scalar, choose_arguments, record_call
from gradtape.transforms.sparse.colouring import ColouringPlan, choose_colouring
from gradtape.transforms.sparse.pattern import Rows, can_push, detect_pattern, nodes_behind


class PatternError(GradTapeError, ValueError):
    """A sparsity pattern that lacks entries which the derivative has.

    >>> import numpy as np, gradtape as gt
    >>> try:
    ...     gt.sparse_jacobian(lambda x: x + x[::-1], pattern=np.eye(3))(np.ones(3))
    ... except gt.PatternError as error:
    ...     print(error.problem.title.partition(":")[0])
    sparse_jacobian
    """


def sparse_jacobian(function: Function, argnums: int = 0, pattern: Any = None) -> SparseDerivative:
    """A function that returns the Jacobian of `function` as a `scipy.sparse.csr_array`.

    Its shape is `(output.size, input.size)`: elements are counted in C order. `function` takes one array at position
    `argnums` and returns one array. The entries are those of the pattern, so some stored numbers may be zero.

    - `pattern=None`: detect the pattern at every call, since a branch on a value may change it.
    - `pattern="cached"`: detect at the first call with these sizes and reuse pattern and colours. One more pass in a
      random direction checks that they still fit; where they do not, the pattern is detected again.
    - `pattern=matrix` (sparse or dense; what is not zero may depend): detect nothing. The same check raises
      `PatternError` when entries are missing.

    After a call, `.pattern`, `.colours` (the number of passes) and `.mode` ("forward" or "reverse") tell what was done.
    Custom rules count as depending on everything that goes in: give the `pattern` where you know better.

    >>> import numpy as np, gradtape as gt
    >>> derivative = gt.sparse_jacobian(lambda x: x[1:] * x[:-1])
    >>> derivative(np.array([1.0, 2.0, 3.0, 4.0])).toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    >>> derivative.colours, derivative.pattern.nnz
    (2, 6)
    """
    return SparseDerivative(function, argnums, pattern, symmetric=False)


def sparse_hessian(function: Function, argnums: int = 0, pattern: Any = None) -> SparseDerivative:
    """A function that returns the Hessian of `function` as a `scipy.sparse.csr_array` of `(input.size, input.size)`.

    `function` takes one array at position `argnums` and returns one number. The pattern is that of its recorded
    gradient, made symmetric; see `sparse_jacobian` for `pattern=` and for what is known after a call. The colouring is
    a star colouring: an entry is read from its own column or from that of its mirror image, so that a matrix with a few
    full rows and columns and a narrow band still needs few passes.

    >>> import numpy as np, gradtape as gt
    >>> second = gt.sparse_hessian(lambda x: np.sum((x[1:] - x[:-1]) ** 2))
    >>> second(np.array([1.0, 2.0, 4.0])).toarray()
    array([[ 2., -2.,  0.],
           [-2.,  4., -2.],
           [ 0., -2.,  2.]])
    >>> second.colours
    2
    """
    return SparseDerivative(function, argnums, pattern, symmetric=True)


class SparseDerivative:
    """What `sparse_jacobian` and `sparse_hessian` return: call it like the function it was made from.

    >>> import numpy as np, gradtape as gt
    >>> derivative = gt.sparse_jacobian(np.sin)
    >>> derivative(np.zeros(1000)).nnz, derivative.colours, derivative.mode
    (1000, 1, 'forward')
    """

    pattern: Any = None
    """The pattern of the last call: a `scipy.sparse.csr_array` of booleans."""
    colours: int | None = None
    """How many passes the last call made, not counting the one that checks a pattern which was not detected."""
    mode: str | None = None
    """Which way the passes of the last call went: "forward" or "reverse"."""

    def __init__(self, function: Function, argnums: int, pattern: Any, symmetric: bool) -> None:
        functools.update_wrapper(self, function, updated=())
        self._name = "sparse_hessian" if symmetric else "sparse_jacobian"
        self._function = function
        self._argnums = argnums
        self._symmetric = symmetric
        self._cached = isinstance(pattern, str) and pattern == "cached"
        self._given = None if pattern is None or self._cached else _as_pattern(pattern, self._name)
        self._plans: dict[tuple[Shape, bool], ColouringPlan] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        number = self._number(args)
        _check_argument(args[number], number, self._name)
        function = _gradient(self._function, number) if self._symmetric else self._function
        run = record_call(function, args, kwargs, [number])
        output = _one_array(run.result, run.name, self._name)
        nodes = nodes_behind(output, run.tape.bit)
        shape = (int(np.size(output)), run.sources[0].size)
        key = shape, can_push(nodes)
        plan = self._plans.get(key)
        if plan is None and self._given is not None:
            self._check_shape(shape, number)
            plan = self._plans[key] = choose_colouring(self._given, self._symmetric, forward=key[1])
        matrix = None if plan is None else _matrix(run, output, nodes, plan, check=True)
        if matrix is None and self._given is not None:
            raise PatternError(
                f"{self._name}: the pattern given (shape {shape}, {self._given.nnz} entries) lacks some: in a random "
                f"direction the derivative is not what the entries say.\n{Location.here().show()}\n"
                f"  fix: add what is missing, or leave pattern= out to have it detected"
            )
        if plan is None or matrix is None:
            plan = choose_colouring(detect_pattern(nodes, run.sources[0], output), self._symmetric, forward=key[1])
            if self._cached:
                self._plans[key] = plan
            matrix = _matrix(run, output, nodes, plan, check=False)
        self.pattern, self.colours, self.mode = plan.pattern.copy(), plan.colours, plan.mode
        return matrix

    def _number(self, args: tuple[Any, ...]) -> int:
        if not isinstance(self._argnums, int | np.integer):
            raise OperandError(
                f"{self._name}: argnums={self._argnums!r}; a sparse matrix is of one argument.\n"
                f"{Location.here().show()}\n  fix: one integer, and one call for each argument"
            )
        return choose_arguments(self._function, args, self._argnums)[0][0]

    def _check_shape(self, shape: Shape, number: int) -> None:
        assert self._given is not None
        if self._given.shape != shape:
            raise ShapeError(
                f"{self._name}: the pattern has shape {self._given.shape}; the matrix has shape {shape} (elements of "
                f"the output, elements of argument {number}).\n{Location.here().show()}\n"
                f"  fix: give a pattern of shape {shape}, or none to have it detected"
            )


def _check_argument(x: Any, number: int, name: str) -> None:
    """Raise unless `x` is one array of real numbers whose derivative nobody else is waiting for."""
    if children(x) is not None:
        raise StructureError(
            f"{name}: argument {number} is a {type(x).__name__}; accepted is one array (or tensor, or number).\n"
            f"{Location.here().show()}\n"
            f"  fix: np.asarray(x) of numbers in lists; of nested parameters, let the function take one flat array and "
            f"split it inside"
        )
    if isinstance(x, Lifted) or (isinstance(x, Tensor) and is_tracked(x)):
        raise _not_differentiable_again(name)
    if (x if isinstance(x, Tensor) else np.asarray(x)).dtype.kind == "c":
        raise _complex(f"argument {number}", name)


def _one_array(result: Any, function_name: str, name: str) -> Any:
    """The result of the function as a tensor or an array of real numbers, or an error."""
    if result is None:
        raise messages.returned_none(function_name)
    if children(result) is not None:
        raise StructureError(
            f"{name}: {function_name} returned a {type(result).__name__}; accepted is one array.\n"
            f"{Location.here().show()}\n  fix: gt.stack or gt.concatenate the parts before returning them"
        )
    if isinstance(result, Lifted):
        raise _not_differentiable_again(name)
    output = result if isinstance(result, Tensor) else np.asarray(result)
    if output.dtype.kind not in "fiubc":
        raise OperandError(
            f"{name}: {function_name} returned a {type(result).__name__}; accepted is one array of numbers.\n"
            f"{Location.here().show()}"
        )
    if output.dtype.kind == "c":
        raise _complex(f"the value of {function_name}", name)
    return output


def _complex(what: str, name: str) -> DtypeError:
    return DtypeError(
        f"{name}: {what} is complex; a sparse matrix of derivatives is made of real numbers.\n"
        f"{Location.here().show()}\n"
        f"  fix: take and return real and imaginary parts as real arrays; inside, the function may be complex"
    )


def _not_differentiable_again(name: str) -> DetachError:
    return DetachError(
        f"{name} inside another derivative or vmap: a scipy.sparse matrix holds plain numbers, and what surrounds it "
        f"would lose its gradient in silence.\n{Location.here().show()}\n"
        f"  fix: gt.jacobian or gt.hessian, which can be differentiated and batched; x.numpy() if no gradient is wanted"
    )


def _as_pattern(pattern: Any, name: str) -> Rows:
    from scipy import sparse

    if not sparse.issparse(pattern) and not (isinstance(pattern, np.ndarray) and pattern.ndim == 2):
        raise OperandError(
            f"{name}: pattern= was given {_described(pattern)}.\n{Location.here().show()}\n"
            f'  accepted: None, "cached", a scipy.sparse matrix, or an array with two axes'
        )
    entries = sparse.csr_array(pattern, copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    return entries.astype(bool)


def _described(value: Any) -> str:
    if isinstance(value, str):
        return repr(value)
    return f"a {type(value).__name__}" + (f" of shape {value.shape}" if hasattr(value, "shape") else "")


def _gradient(function: Function, number: int) -> Function:
    """The gradient of `function` by its argument `number`; zeros, without a warning, where it does not depend."""

    @functools.wraps(function)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        run = record_call(function, args, kwargs, [number])
        output = as_scalar(run.result, run.name)
        found = None
        if isinstance(output, Tensor):
            (found,) = run.pull_back([output], [np.ones(output.shape, output.dtype)], last=True)
        return np.zeros(run.sources[0].shape, run.sources[0].dtype) if found is None else found

    return gradient


def _matrix(run: RecordedCall, output: Any, nodes: list[Node], plan: ColouringPlan, check: bool) -> Any:
    """The derivative with the entries of the plan; with `check`, None if it has others."""
    from scipy import sparse

    source = run.sources[0]
    dtype = np.result_type(source.dtype, output.dtype if output.dtype.kind == "f" else source.dtype)
    forward = plan.mode == "forward"
    seeds = np.zeros((plan.colours + check, plan.colour.size), dtype)
    filled = np.flatnonzero(plan.colour >= 0)
    seeds[plan.colour[filled], filled] = 1
    if check:
        seeds[-1] = np.random.default_rng(filled.size).standard_normal(plan.colour.size)
    through = _passed(run, output, seeds, nodes, forward)
    if through is None:
        through = np.zeros((len(seeds), plan.pattern.shape[0 if forward else 1]))
    data = through[plan.passes, plan.places].astype(dtype)
    structure = plan.pattern.indices.copy(), plan.pattern.indptr.copy()
    matrix = sparse.csr_array((data, *structure), shape=plan.pattern.shape)
    return None if check and _differs(matrix if forward else matrix.T, seeds[-1], through[-1]) else matrix


def _passed(run: RecordedCall, output: Any, seeds: np.ndarray[Any, Any], nodes: list[Node], forward: bool) -> Any:
    """What comes out for each row of `seeds`, one row each; None where there is no path."""
    if not nodes or not seeds.size:
        return None
    start = run.sources[0] if forward else output

    def through(seed: BatchTensor, last: bool) -> list[Any]:
        return run.push([output], [seed]) if forward else run.pull_back([output], [seed])

    rows = seeds.astype(start.dtype).reshape(-1, *start.shape)
    (found,) = for_each_row(through, rows, max(int(np.prod(node.shape)) for node in nodes))
    if isinstance(found, Tensor):
        if isinstance(found, Lifted) or is_tracked(found):
            raise _not_differentiable_again("a sparse derivative")
        found = found._concrete()
    return None if found is None else found.reshape(len(seeds), -1)


def _differs(matrix: Any, direction: np.ndarray[Any, Any], answer: np.ndarray[Any, Any]) -> bool:
    """Whether `matrix` times `direction` is not the `answer` that the derivative gave."""
    with np.errstate(all="ignore"):
        size = abs(matrix) @ np.abs(direction)
        slack = np.sqrt(np.finfo(matrix.dtype).eps) * (size + np.abs(answer))
        off = ~(np.abs(matrix @ direction - answer) <= slack)
    return bool((off & np.isfinite(size)).any())
