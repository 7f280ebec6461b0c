"""`tf.math`: elementwise functions, reductions, running sums, segments."""

from __future__ import annotations

from gradtape.standins.names import missing
from gradtape.standins.tensorflow import elementwise, reductions, segments
from gradtape.standins.tensorflow.activations import log_softmax, softmax
from gradtape.standins.tensorflow.arrays import invert_permutation
from gradtape.standins.tensorflow.elementwise import *  # noqa: F403
from gradtape.standins.tensorflow.reductions import *  # noqa: F403
from gradtape.standins.tensorflow.segments import *  # noqa: F403

__all__ = ["invert_permutation", "log_softmax", "softmax"]
_ELSEWHERE = {"clip_by_global_norm", "clip_by_norm", "clip_by_value", "complex", "global_norm", "realdiv"}
_ELSEWHERE |= {"truncatediv", "truncatemod"}
__all__ += [name for name in elementwise.__all__ if name not in _ELSEWHERE]
__all__ += reductions.__all__
__all__ += segments.__all__

__getattr__ = missing(__name__)
