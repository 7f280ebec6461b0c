"""Activations as layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.nn import functional
from gradtape.nn.basic import Wrapped, checked_size
from gradtape.nn.init import constant
from gradtape.nn.module import Module


class ReLU(Wrapped):
    """max(x, 0).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.ReLU()(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    _function = staticmethod(functional.relu)


class ReLU6(Wrapped):
    """min(max(x, 0), 6).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.ReLU6()(np.array([-1.0, 9.0]))
    array([0., 6.])
    """

    _function = staticmethod(functional.relu6)


class LeakyReLU(Wrapped):
    """x where it is positive, `negative_slope` x elsewhere.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.LeakyReLU(0.5)(np.array([-1.0, 2.0]))
    array([-0.5,  2. ])
    """

    _function = staticmethod(functional.leaky_relu)


class ELU(Wrapped):
    """x where it is positive, `alpha` (exp(x) - 1) elsewhere.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.ELU()(np.array([-1.0, 2.0])).round(4)
    array([-0.6321,  2.    ])
    """

    _function = staticmethod(functional.elu)


class SELU(Wrapped):
    """`ELU` with the scale that keeps mean 0 and variance 1.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.SELU()(np.array([-1.0, 2.0])).round(4)
    array([-1.1113,  2.1014])
    """

    _function = staticmethod(functional.selu)


class CELU(Wrapped):
    """`ELU` that is smooth for every `alpha`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.CELU(2.0)(np.array([-1.0, 2.0])).round(4)
    array([-0.7869,  2.    ])
    """

    _function = staticmethod(functional.celu)


class GELU(Wrapped):
    """x times the normal distribution function at x; `approximate="tanh"` for the approximation.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.GELU()(np.array([-1.0, 2.0])).round(4)
    array([-0.1587,  1.9545])
    """

    _function = staticmethod(functional.gelu)


class SiLU(Wrapped):
    """x sigmoid(x).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.SiLU()(np.array([-1.0, 2.0])).round(4)
    array([-0.2689,  1.7616])
    """

    _function = staticmethod(functional.silu)


class Mish(Wrapped):
    """x tanh(softplus(x)).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Mish()(np.array([-1.0, 2.0])).round(4)
    array([-0.3034,  1.944 ])
    """

    _function = staticmethod(functional.mish)


class Sigmoid(Wrapped):
    """1 / (1 + exp(-x)).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Sigmoid()(np.array([0.0]))
    array([0.5])
    """

    _function = staticmethod(functional.sigmoid)


class Tanh(Wrapped):
    """The hyperbolic tangent.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Tanh()(np.array([0.0]))
    array([0.])
    """

    _function = staticmethod(functional.tanh)


class Softmax(Wrapped):
    """exp(x), normalised to sum to 1 along `axis`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Softmax(-1)(np.zeros((1, 2)))
    array([[0.5, 0.5]])
    """

    _function = staticmethod(functional.softmax)


class LogSoftmax(Wrapped):
    """The logarithm of `Softmax`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.LogSoftmax(-1)(np.zeros((1, 2))).round(4)
    array([[-0.6931, -0.6931]])
    """

    _function = staticmethod(functional.log_softmax)


class Softmin(Wrapped):
    """`Softmax` of -x.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Softmin(-1)(np.zeros((1, 2)))
    array([[0.5, 0.5]])
    """

    _function = staticmethod(functional.softmin)


class Softplus(Wrapped):
    """log(1 + exp(`beta` x)) / `beta`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Softplus()(np.array([0.0])).round(4)
    array([0.6931])
    """

    _function = staticmethod(functional.softplus)


class Softsign(Wrapped):
    """x / (1 + |x|).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Softsign()(np.array([1.0]))
    array([0.5])
    """

    _function = staticmethod(functional.softsign)


class Hardtanh(Wrapped):
    """x within `min_val` and `max_val`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Hardtanh()(np.array([-3.0, 0.5]))
    array([-1. ,  0.5])
    """

    _function = staticmethod(functional.hardtanh)


class Hardsigmoid(Wrapped):
    """(x + 3) / 6 within 0 and 1.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Hardsigmoid()(np.array([0.0]))
    array([0.5])
    """

    _function = staticmethod(functional.hardsigmoid)


class Hardswish(Wrapped):
    """x times `Hardsigmoid` of x.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Hardswish()(np.array([3.0]))
    array([3.])
    """

    _function = staticmethod(functional.hardswish)


class Hardshrink(Wrapped):
    """x where it is beyond `lambd` of 0, and 0 within.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Hardshrink()(np.array([0.4, 2.0]))
    array([0., 2.])
    """

    _function = staticmethod(functional.hardshrink)


class Softshrink(Wrapped):
    """x, moved by `lambd` towards 0, and 0 within that.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Softshrink()(np.array([0.4, 2.0]))
    array([0. , 1.5])
    """

    _function = staticmethod(functional.softshrink)


class Tanhshrink(Wrapped):
    """x - tanh(x).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Tanhshrink()(np.array([0.0]))
    array([0.])
    """

    _function = staticmethod(functional.tanhshrink)


class LogSigmoid(Wrapped):
    """The logarithm of the sigmoid.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.LogSigmoid()(np.array([0.0])).round(4)
    array([-0.6931])
    """

    _function = staticmethod(functional.logsigmoid)


class Threshold(Wrapped):
    """x where it is above `threshold`, and `value` elsewhere.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Threshold(1.0, -7.0)(np.array([0.0, 2.0]))
    array([-7.,  2.])
    """

    _function = staticmethod(functional.threshold)


class GLU(Wrapped):
    """The first half along `axis` times the sigmoid of the second.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.GLU()(np.array([2.0, 0.0]))
    array([1.])
    """

    _function = staticmethod(functional.glu)


class PReLU(Module):
    """x where it is positive, a learnt slope times x elsewhere: one slope, or one for each channel.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.PReLU(rng=np.random.default_rng(0))(np.array([-1.0, 2.0], np.float32))
    Tensor([-0.25,  2.  ], dtype=float32)
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        *,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.num_parameters = checked_size("PReLU", "num_parameters", num_parameters)
        self.declare("weight", (self.num_parameters,), constant(init), dtype, rng)

    def forward(self, x: Any) -> Any:
        """`functional.prelu` with the slopes of the layer."""
        return functional.prelu(x, self.weight)

    def extra_repr(self) -> str:
        """The number of slopes."""
        return f"{self.num_parameters}"
