"""`biject_to` and `transform_to`: a function from all numbers to a region."""

from __future__ import annotations

from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.distributions import constraints, transforms
from gradtape_standins.torch.distributions.constraints import Constraint
from gradtape_standins.torch.distributions.transforms import Transform

__all__ = ["biject_to", "transform_to"]


def _to_bounds(low: Any, high: Any) -> Transform:
    """A function to the numbers above, below or between bounds."""
    if high is None:
        return _moved(transforms.ExpTransform(), low, 1.0)
    if low is None:
        return _moved(transforms.ExpTransform(), high, -1.0)
    return _moved(transforms.SigmoidTransform(), low, high - low)


def _moved(shape: Transform, start: Any, scale: Any) -> Transform:
    is_plain = isinstance(start, (int, float)) and isinstance(scale, (int, float)) and (start, scale) == (0, 1)
    return shape if is_plain else transforms.ComposeTransform([shape, transforms.AffineTransform(start, scale)])


class _Registry:
    """Called with a constraint, the function to its region."""

    def __init__(self, to_simplex: type[Transform]) -> None:
        self._to_simplex = to_simplex

    def __call__(self, constraint: Constraint) -> Transform:
        if constraint is constraints.simplex:
            return self._to_simplex()
        if constraint is constraints.lower_cholesky:
            return transforms.LowerCholeskyTransform()
        inner: Any = getattr(constraint, "base_constraint", constraint)
        if inner is constraints.real:
            return transforms.identity_transform
        if hasattr(inner, "lower_bound") and not inner.is_discrete:
            return _to_bounds(inner.lower_bound, inner.upper_bound)
        raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")


biject_to = _Registry(transforms.StickBreakingTransform)
transform_to = _Registry(transforms.SoftmaxTransform)
__getattr__ = missing(__name__)
