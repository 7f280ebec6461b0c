"""`tf.math`: elementwise functions, reductions, running sums, segments."""

from __future__ import annotations

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import elementwise, reductions, segments
from gradtape_standins.tensorflow.activations import log_softmax, softmax
from gradtape_standins.tensorflow.arrays import invert_permutation
from gradtape_standins.tensorflow.elementwise import *  # noqa: F403
from gradtape_standins.tensorflow.reductions import *  # noqa: F403
from gradtape_standins.tensorflow.segments import *  # noqa: F403
from gradtape_standins.tensorflow.tensor import unary


class special:
    """`tf.math.special`: Bessel functions and their relatives, as far as gradtape has them."""

    bessel_i0, bessel_i0e, bessel_i1, bessel_i1e = (
        staticmethod(f)
        for f in (elementwise.bessel_i0, elementwise.bessel_i0e, elementwise.bessel_i1, elementwise.bessel_i1e)
    )
    bessel_j0 = staticmethod(unary(gt.special.j0, "bessel_j0", "The Bessel function of order 0.", kinds="f"))
    bessel_j1 = staticmethod(unary(gt.special.j1, "bessel_j1", "The Bessel function of order 1.", kinds="f"))
    bessel_y0 = staticmethod(unary(gt.special.y0, "bessel_y0", "The second Bessel function of order 0.", kinds="f"))
    bessel_k0 = staticmethod(unary(gt.special.k0, "bessel_k0", "The second modified one of order 0.", kinds="f"))
    bessel_k0e = staticmethod(unary(gt.special.k0e, "bessel_k0e", "The scaled one of order 0.", kinds="f"))


__all__ = ["invert_permutation", "log_softmax", "softmax", "special"]
_ELSEWHERE = {"clip_by_global_norm", "clip_by_norm", "clip_by_value", "complex", "global_norm", "realdiv"}
_ELSEWHERE |= {"truncatediv", "truncatemod"}
__all__ += [name for name in elementwise.__all__ if name not in _ELSEWHERE]
__all__ += reductions.__all__
__all__ += segments.__all__

__getattr__ = missing(__name__)
