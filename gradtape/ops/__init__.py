# ruff: noqa: F403  (each chapter lists its names in `__all__`)
"""The table of operations, one file a chapter. Importing it gives tensors their operators.

`elementwise`, `conversion`, `comparison`: each element by itself. `reductions`, `cumulative`, `sorting`: along axes.
`shaping`, `joining`, `rearranging`, `indexing`, `indexed_update`: which element goes where. `products`, `einsum`:
products. `softmax`: activations. `creation`: new tensors.
"""

import sys

import gradtape.ops.einsum as einsum_chapter  # by another name: a function of it has that of the module
import gradtape.ops.softmax as softmax_chapter
from gradtape.numpy_dispatch import methods, protocols
from gradtape.ops import (
    comparison,
    conversion,
    creation,
    cumulative,
    elementwise,
    indexed_update,
    indexing,
    joining,
    products,
    rearranging,
    reductions,
    shaping,
)
from gradtape.ops.comparison import *
from gradtape.ops.conversion import *
from gradtape.ops.creation import *
from gradtape.ops.cumulative import *
from gradtape.ops.einsum import *
from gradtape.ops.elementwise import *
from gradtape.ops.indexed_update import *
from gradtape.ops.indexing import *
from gradtape.ops.joining import *
from gradtape.ops.products import *
from gradtape.ops.rearranging import *
from gradtape.ops.reductions import *
from gradtape.ops.shaping import *
from gradtape.ops.softmax import *
from gradtape.ops.sorting import argsort, median, percentile, quantile, sort

__all__ = ["argsort", "median", "percentile", "quantile", "sort"]
__all__ += comparison.__all__
__all__ += conversion.__all__
__all__ += creation.__all__
__all__ += cumulative.__all__
__all__ += einsum_chapter.__all__
__all__ += elementwise.__all__
__all__ += indexed_update.__all__
__all__ += indexing.__all__
__all__ += joining.__all__
__all__ += products.__all__
__all__ += rearranging.__all__
__all__ += reductions.__all__
__all__ += shaping.__all__
__all__ += softmax_chapter.__all__
__all__.sort()

protocols.register_table()
methods.bind(sys.modules[__name__])
