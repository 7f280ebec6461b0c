"""`Why`, the result of `tape.why`: a text with the `Problem` it renders, and the path of the gradient if it flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import SourceLocation


@dataclass(frozen=True)
class Step:
    """One operation on the way from the target to the source.

    `gain` is how much larger the gradient is behind it than before it (root mean squares); None where it is not known.
    """

    operation: str
    shape: tuple[int, ...]
    dtype: str
    location: SourceLocation
    gain: float | None


class Why(str):
    """The answer of `tape.why` and `t.why`: a text, with the finding behind it as `.problem`, and its `.code`.

    Where a gradient flows, `.code` is empty and `.path` has a `Step` for each operation from the target to the source.

    >>> import gradtape as gt
    >>> x = gt.Variable([1.0, 2.0])
    >>> with gt.GradientTape(persistent=True) as tape:
    ...     y = (x * 3.0).sum()
    >>> answer = tape.why(y, x)
    >>> answer.code, [(step.operation, step.shape, step.gain) for step in answer.path]
    ('', [('sum', (), 1.0), ('multiply', (2,), 3.0)])
    """

    problem: Problem
    path: tuple[Step, ...]

    def __new__(cls, problem: Problem, path: tuple[Step, ...] = ()) -> Why:
        answer = super().__new__(cls, problem.to_text())
        answer.problem = problem
        answer.path = path
        return answer

    @property
    def code(self) -> str:
        """The cause, GT202 to GT212, or GT404 if it flows and is zero; empty if it flows."""
        return self.problem.code

    @property
    def flows(self) -> bool:
        """Whether there is a path for the gradient."""
        return bool(self.path) or not self.code

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.problem._repr_mimebundle_()
