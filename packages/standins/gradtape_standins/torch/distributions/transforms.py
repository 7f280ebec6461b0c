"""`torch.distributions.transforms`: functions that can be turned round, with the logarithm of how they stretch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.torch import creation, methods
from gradtape_standins.torch.distributions import constraints
from gradtape_standins.torch.nn import functional

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "LowerCholeskyTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]

_F = methods.FUNCTIONS


class Transform:
    """A function with an inverse (`.inv`), whose slope is known."""

    bijective = True
    domain: Any = constraints.real
    codomain: Any = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def __call__(self, x: Any) -> Any:
        return self._call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the absolute slope at x, where the value is y."""
        raise NotImplementedError

    @property
    def inv(self) -> Transform:
        """The function turned round."""
        return _Inverse(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, of: Transform) -> None:
        super().__init__()
        self._inv, self.domain, self.codomain = of, of.codomain, of.domain

    def _call(self, x: Any) -> Any:
        return self._inv._inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    @property
    def inv(self) -> Transform:
        return self._inv

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self._inv!r})"


class ExpTransform(Transform):
    """exp(x)."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return _F["exp"](x)

    def _inverse(self, y: Any) -> Any:
        return _F["log"](y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log exp(x) = x."""
        return x


class PowerTransform(Transform):
    """x ** exponent."""

    domain = codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent: Any = creation.as_tensor(exponent)

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _inverse(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |exponent y / x|."""
        return _F["log"](_F["abs"](self.exponent * y / x))


class AbsTransform(Transform):
    """abs(x), which is turned round to the positive one."""

    bijective = False
    codomain = constraints.nonnegative

    def _call(self, x: Any) -> Any:
        return _F["abs"](x)

    def _inverse(self, y: Any) -> Any:
        return y


class SoftmaxTransform(Transform):
    """exp(x), normalised to sum to 1 along the last axis."""

    bijective = False
    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Any) -> Any:
        return functional.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return _F["log"](y)


class StickBreakingTransform(Transform):
    """Numbers as proportions that sum to 1, one more than there are numbers: each takes a part of what is left."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _offset(self, x: Any) -> Any:
        left = creation.arange(x.shape[-1], 0, -1).to(x.dtype)
        return x - _F["log"](left)

    def _call(self, x: Any) -> Any:
        taken = _F["sigmoid"](self._offset(x))
        left = _F["cumprod"](1 - taken, -1)
        return functional.pad(taken, (0, 1), value=1.0) * functional.pad(left, (1, 0), value=1.0)

    def _inverse(self, y: Any) -> Any:
        left = 1 - _F["cumsum"](y[..., :-1], -1)
        offset = creation.arange(y.shape[-1] - 1, 0, -1).to(y.dtype)
        return _F["log"](y[..., :-1]) - _F["log"](left) + _F["log"](offset)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the sticks, of log-sigmoids and of the logarithms of the rest."""
        moved = self._offset(x)
        return _F["sum"](-moved + functional.logsigmoid(moved) + _F["log"](y[..., :-1]), -1)


class LowerCholeskyTransform(Transform):
    """A matrix as a lower triangular one with a positive diagonal: the diagonal goes through exp."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return _F["tril"](x, -1) + _F["diag_embed"](_F["exp"](_F["diagonal"](x, dim1=-2, dim2=-1)))

    def _inverse(self, y: Any) -> Any:
        return _F["tril"](y, -1) + _F["diag_embed"](_F["log"](_F["diagonal"](y, dim1=-2, dim2=-1)))


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return _F["sigmoid"](x)

    def _inverse(self, y: Any) -> Any:
        return _F["logit"](y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log sigmoid(x) + log sigmoid(-x)."""
        return functional.logsigmoid(x) + functional.logsigmoid(-x)


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return functional.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return y + _F["log"](-_F["expm1"](-y))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log sigmoid(x), as the slope of softplus is sigmoid."""
        return functional.logsigmoid(x)


class TanhTransform(Transform):
    """tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return _F["tanh"](x)

    def _inverse(self, y: Any) -> Any:
        return _F["atanh"](y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log(1 - tanh(x)^2) = 2 log 2 + log sigmoid(2 x) + log sigmoid(-2 x)."""
        # 1 - tanh(x)^2 = 4 sigmoid(2x) sigmoid(-2x), whose logarithm does not overflow
        return 2 * _F["log"](creation.tensor(2.0)) + functional.logsigmoid(2 * x) + functional.logsigmoid(-2 * x)


class AffineTransform(Transform):
    """loc + scale x."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |scale| for each element, summed over the axes of an event."""
        slope = _F["log"](_F["abs"](creation.as_tensor(self.scale, dtype=x.dtype))).expand(x.shape)
        return slope if not self.event_dim else _F["sum"](slope, tuple(range(-self.event_dim, 0)))


class ComposeTransform(Transform):
    """Functions one after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        if self.parts:
            self.domain, self.codomain = self.parts[0].domain, self.parts[-1].codomain

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the parts, each at the value of the one before."""
        total: Any = 0.0
        for part in self.parts:
            value = part(x)
            total = total + part.log_abs_det_jacobian(x, value)
            x = value
        return total

    def __repr__(self) -> str:
        listed = ",\n    ".join(repr(part) for part in self.parts)
        return f"ComposeTransform(\n    {listed}\n)"


identity_transform = ComposeTransform([])
__getattr__ = missing(__name__)
