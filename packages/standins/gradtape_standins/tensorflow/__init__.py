"""A stand-in for TensorFlow: its names, defaults, printing and errors, over gradtape.

>>> from gradtape_standins import tensorflow as tf
>>> x = tf.Variable([1.0, 2.0])
>>> with tf.GradientTape() as tape:
...     loss = tf.reduce_sum(x * x)
>>> tape.gradient(loss, x)
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 4.], dtype=float32)>
"""

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import (
    arrays,
    autodiff,
    bitwise,
    config,
    data,
    debugging,
    dtypes,
    errors,
    gather_and_sort,
    linalg,
    math,
    nest,
    nn,
    ragged,
    random,
    signal,
    sparse,
    strings,
    tensor_array,
    variable_initializers,
)
from gradtape_standins.tensorflow.arrays import *  # noqa: F403
from gradtape_standins.tensorflow.control_flow import (
    case,
    cond,
    foldl,
    foldr,
    group,
    map_fn,
    no_op,
    scan,
    switch_case,
    timestamp,
    vectorized_map,
    while_loop,
)
from gradtape_standins.tensorflow.debugging import Assert, assert_equal, assert_greater, assert_less, assert_rank
from gradtape_standins.tensorflow.dtypes import *  # noqa: F403
from gradtape_standins.tensorflow.elementwise import clip_by_global_norm, clip_by_norm, clip_by_value, complex
from gradtape_standins.tensorflow.execution_context import (
    control_dependencies,
    device,
    executing_eagerly,
    init_scope,
    inside_function,
    name_scope,
)
from gradtape_standins.tensorflow.function import function, numpy_function, py_function
from gradtape_standins.tensorflow.gather_and_sort import *  # noqa: F403
from gradtape_standins.tensorflow.linalg import eig, eigvals, einsum, eye, matmul, norm, tensordot
from gradtape_standins.tensorflow.logger import get_logger
from gradtape_standins.tensorflow.math import (
    abs,
    acos,
    acosh,
    add,
    add_n,
    argmax,
    argmin,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    cumsum,
    divide,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    pow,
    realdiv,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    round,
    scalar_mul,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    truediv,
    truncatediv,
    truncatemod,
)
from gradtape_standins.tensorflow.module import Module
from gradtape_standins.tensorflow.printing import print
from gradtape_standins.tensorflow.ragged import RaggedTensor
from gradtape_standins.tensorflow.shapes import RaggedTensorSpec, TensorShape, TensorSpec
from gradtape_standins.tensorflow.slices import IndexedSlices
from gradtape_standins.tensorflow.sparse import SparseTensor
from gradtape_standins.tensorflow.strings import as_string
from gradtape_standins.tensorflow.tape import (
    GradientTape,
    UnconnectedGradients,
    custom_gradient,
    grad_pass_through,
    gradients,
    hessians,
    recompute_grad,
    stop_gradient,
)
from gradtape_standins.tensorflow.tensor import Tensor
from gradtape_standins.tensorflow.tensor_array import *  # noqa: F403
from gradtape_standins.tensorflow.variable import Variable
from gradtape_standins.tensorflow.variable_initializers import *  # noqa: F403

__version__ = "2.21.0"

__all__ = [
    "Assert",
    "GradientTape",
    "IndexedSlices",
    "Module",
    "Tensor",
    "TensorShape",
    "TensorSpec",
    "UnconnectedGradients",
]
__all__ += ["Variable", "abs", "acos", "acosh", "add", "add_n", "argmax", "argmin", "asin", "asinh", "assert_equal"]
__all__ += ["assert_greater", "assert_less", "assert_rank", "atan", "atan2", "atanh", "autodiff", "case"]
__all__ += ["clip_by_global_norm", "clip_by_norm", "clip_by_value", "complex", "cond", "config"]
__all__ += ["control_dependencies", "cos", "cosh", "cumsum", "custom_gradient", "data", "debugging", "device"]
__all__ += ["divide", "dtypes", "einsum", "equal", "errors", "executing_eagerly", "exp", "eye", "floor", "foldl"]
__all__ += [
    "foldr",
    "function",
    "get_logger",
    "gradients",
    "greater",
    "greater_equal",
    "group",
    "hessians",
    "init_scope",
]
__all__ += ["inside_function", "less", "less_equal", "linalg", "logical_and", "logical_not", "logical_or", "map_fn"]
__all__ += ["math", "matmul", "maximum", "minimum", "multiply", "name_scope", "negative", "nest", "nn", "no_op"]
__all__ += ["norm", "not_equal", "numpy_function", "pow", "print", "py_function", "random", "recompute_grad"]
__all__ += ["reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod"]
__all__ += ["reduce_sum", "round", "scalar_mul", "scan", "sigmoid", "sign", "signal", "sin", "sinh", "sqrt", "square"]
__all__ += ["stop_gradient", "subtract", "switch_case", "tan", "tanh", "tensordot", "timestamp", "truediv"]
__all__ += ["vectorized_map", "while_loop"]
__all__ += arrays.__all__
__all__ += dtypes.__all__
__all__ += tensor_array.__all__
__all__ += variable_initializers.__all__
__all__ += gather_and_sort.__all__
__all__ += ["RaggedTensor", "RaggedTensorSpec", "SparseTensor", "as_string", "bitwise", "ragged", "sparse", "strings"]
__all__ += ["eig", "eigvals", "grad_pass_through", "realdiv", "truncatediv", "truncatemod"]

_GRAPHS = "it is of TensorFlow 1: graphs and sessions.\n  fix: run it eagerly; functions return their values at once"
_FILES = "files of TensorFlow's are not in this stand-in.\n  fix: NumPy or Python before the tensors are made"
__getattr__ = missing(
    __name__,
    submodules=[
        "autograph",
        "image",
        "initializers",
        "keras",
        "losses",
        "metrics",
        "optimizers",
        "saved_model",
        "train",
        "version",
    ],
    reasons={
        "Session": _GRAPHS,
        "global_variables_initializer": _GRAPHS,
        "experimental": "it has experimental names only.\n  fix: gradtape has NumPy's names: import gradtape as gt",
        "io": _FILES,
        "placeholder": _GRAPHS,
    },
)
