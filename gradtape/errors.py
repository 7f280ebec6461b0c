"""What can go wrong, by kind. Every error is a `GradTapeError` and also the built-in class that NumPy would raise.

Messages name the user's line, the shapes or dtypes involved, what is accepted and what to write instead. They are
the text of a `gradtape.explain.Problem`, which every error and warning carries as `.problem`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradtape.explain.model.problem import Problem


def _emit() -> Any:
    """The module that errors call when they are made and shown."""
    from gradtape.explain.emit import raised

    return raised


class GradTapeError(Exception):
    """The root of gradtape's errors. `.problem` is the finding behind the message, as data.

    >>> import gradtape as gt
    >>> try:
    ...     gt.tensor([1, 2], requires_grad=True)
    ... except gt.GradTapeError as error:
    ...     print(type(error).__name__, error.problem.code)
    DtypeError GT310
    """

    problem: Problem

    def __init__(self, problem: Problem | str) -> None:
        from gradtape.explain.messages import problem_from_text

        self.problem = problem_from_text(problem, type(self))
        text = self.problem.to_text()
        super().__init__(text)
        self.args: tuple[Any, ...] = (text,)  # NumPy's AxisError leaves them as they were given
        _emit().notify_and_watch(self.problem)

    def __str__(self) -> str:
        return str(self.args[0])

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter show below a cell: the frames of the user, and the message."""
        lines: list[str] = _emit().traceback_for_ipython(self)
        return lines

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem,)


class ShapeError(GradTapeError, ValueError):
    """Operands, a seed or a gradient whose shapes do not fit.

    >>> import gradtape as gt
    >>> try:
    ...     gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])
    ... except gt.ShapeError as error:
    ...     print(error.problem.title)
    these shapes do not fit: (2,) and (3,)
    """


class DtypeError(GradTapeError, TypeError):
    """A dtype that cannot be differentiated, or is not the one that was asked for.

    >>> import gradtape as gt
    >>> issubclass(gt.DtypeError, TypeError)
    True
    """


class OperandError(GradTapeError, TypeError, ValueError):
    """An argument of a type that the function does not take.

    Or of a value that is none of the accepted ones; NumPy refuses some of these with a `TypeError` and some with a
    `ValueError`, and this is both.

    >>> import gradtape as gt
    >>> try:
    ...     gt.grad(lambda x: None)(1.0)
    ... except gt.OperandError as error:
    ...     print(str(error).splitlines()[0])
    [GT311] <lambda> returned None; there is nothing to differentiate
    """


class IndexingError(GradTapeError, IndexError):
    """An index that is out of range or of the wrong kind.

    >>> import gradtape as gt
    >>> try:
    ...     gt.tensor([1.0, 2.0])[2]
    ... except gt.IndexingError as error:
    ...     print(str(error).splitlines()[0])
    [GT115] index 2 is out of bounds for axis 0 with size 2
    """


class AxisError(GradTapeError, np.exceptions.AxisError):
    """An axis that the array does not have.

    >>> import gradtape as gt
    >>> issubclass(gt.AxisError, ValueError), issubclass(gt.AxisError, IndexError)
    (True, True)
    """


class LinearAlgebraError(GradTapeError, np.linalg.LinAlgError):
    """A matrix that is singular, not square, or not positive definite where it has to be.

    >>> import numpy as np, gradtape as gt
    >>> issubclass(gt.LinearAlgebraError, np.linalg.LinAlgError)
    True
    """


class StructureError(GradTapeError, TypeError):
    """Nested structures that should match and do not.

    >>> import gradtape as gt
    >>> x = gt.Variable(1.0)
    >>> with gt.GradientTape() as tape:
    ...     y = [x * 2.0, x * 3.0]
    >>> try:
    ...     tape.gradient(y, x, output_gradients=[1.0])
    ... except gt.StructureError as error:
    ...     print(str(error).splitlines()[0])
    [GT306] target and output_gradients have different structures: a list of 2 against a list of 1
    """


class TapeError(GradTapeError, RuntimeError):
    """A tape or a graph used in a way that it cannot be: twice, out of order, or after it was freed.

    >>> import gradtape as gt
    >>> x = gt.tensor(1.0, requires_grad=True)
    >>> y = x * x
    >>> y.backward()
    >>> try:
    ...     y.backward()
    ... except gt.TapeError as error:
    ...     print(str(error).splitlines()[0])
    [GT308] this graph was freed by an earlier backward
    """


class RuleError(GradTapeError, ValueError):
    """A gradient rule that returned the wrong number of gradients, or one of the wrong shape or dtype.

    >>> import gradtape as gt
    >>> issubclass(gt.RuleError, ValueError)
    True
    """


class MutationError(GradTapeError, RuntimeError, TypeError):
    """A write that would change what a gradient stands on.

    A `RuntimeError` as PyTorch's, and a `TypeError` as Python has it for what cannot be assigned to.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0], requires_grad=True)
    >>> try:
    ...     x[0] = 5.0
    ... except gt.MutationError as error:
    ...     print(error.problem.title)
    x[...] = value: this tensor of shape (2,) is a leaf that gradients are asked for
    """


class UntrackedError(GradTapeError, RuntimeError):
    """A gradient was asked of something that was never recorded.

    >>> import gradtape as gt
    >>> try:
    ...     gt.tensor(1.0).backward()
    ... except gt.UntrackedError as error:
    ...     print(str(error).splitlines()[0])
    [GT305] backward: nothing that this tensor (shape ()) was computed from requires a gradient
    """


class DetachError(GradTapeError, TypeError):
    """A tracked tensor would have lost its gradient in silence.

    >>> import numpy as np, gradtape as gt
    >>> x = gt.tensor([1.0, 2.0], requires_grad=True)
    >>> try:
    ...     np.asarray(x)
    ... except gt.DetachError as error:
    ...     print(str(error).partition(";")[0])
    [GT312] NumPy asked for the bare array of a tracked tensor of shape (2,)
    """


class UnsupportedError(GradTapeError, TypeError):
    """A function that NumPy has and gradtape does not.

    >>> import numpy as np, gradtape as gt
    >>> try:
    ...     np.packbits(gt.tensor([True, False]))
    ... except gt.UnsupportedError as error:
    ...     print(str(error).splitlines()[0])
    [GT313] np.packbits has no gradient rule in gradtape
    """


class NumericsError(GradTapeError, FloatingPointError):
    """A NaN or an infinity, under `gt.check_numerics()`.

    >>> import gradtape as gt
    >>> issubclass(gt.NumericsError, ArithmeticError)
    True
    """


class GradientWarning(UserWarning):
    """A gradient that is None, zero or NaN for a reason that is probably a mistake. `.problem` is the finding.

    >>> import warnings, gradtape as gt
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = gt.grad(lambda x: 3.0)(1.0)
    >>> caught[0].category.__name__, caught[0].message.problem.code
    ('GradientWarning', 'GT201')
    """

    problem: Problem

    def __init__(self, problem: Problem | str) -> None:
        from gradtape.explain.messages import problem_from_text

        self.problem = problem_from_text(problem, type(self))
        super().__init__(self.problem.to_text())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem,)


class BroadcastWarning(GradientWarning):
    """Shapes that fit by stretching, in a way that is probably not meant.

    >>> import gradtape as gt
    >>> issubclass(gt.BroadcastWarning, gt.GradientWarning)
    True
    """


class NumericsWarning(GradientWarning):
    """A gradient or a value that is NaN, infinite or zero everywhere.

    >>> import gradtape as gt
    >>> issubclass(gt.NumericsWarning, gt.GradientWarning)
    True
    """


class JitWarning(UserWarning):
    """Something inside a compiled function that is slow, behaves differently there, or keeps it from being compiled.

    `.problem` is the finding, where it has a code (GT701 to GT704), and None otherwise.

    >>> import warnings, numpy as np
    >>> from gradtape.jit import JitWarning, jit
    >>> @jit
    ... def noisy(x):
    ...     return x + np.random.normal()
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = noisy(np.ones(2))
    >>> caught[0].category is JitWarning, caught[0].message.problem.code
    (True, 'GT704')
    """

    problem: Problem | None

    def __init__(self, problem: Problem | str) -> None:
        self.problem = None if isinstance(problem, str) else problem
        super().__init__(problem if isinstance(problem, str) else problem.to_text())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0] if self.problem is None else self.problem,)


_BY_NUMPY_CLASS: list[tuple[type[Exception], type[GradTapeError]]] = [
    (np.exceptions.AxisError, AxisError),
    (np.linalg.LinAlgError, LinearAlgebraError),
    (IndexError, IndexingError),
    (ValueError, ShapeError),
    (TypeError, OperandError),
]


def family(error: Exception) -> type[GradTapeError] | None:
    """The class of ours that is also `error`'s class, if NumPy's `error` has one."""
    for numpy_class, ours in _BY_NUMPY_CLASS:
        if isinstance(error, numpy_class):
            return ours
    return None
