"""The stand-in for autograd: `grad` and its relatives, `autograd.numpy`, and all that hangs on them.

>>> import gradtape_standins.autograd.numpy as np
>>> from gradtape_standins.autograd import grad
>>> def tanh(x):
...     return (1.0 - np.exp(-2 * x)) / (1.0 + np.exp(-2 * x))
>>> round(float(grad(tanh)(1.0)), 6)
0.419974
"""

from gradtape_standins import missing_names
from gradtape_standins.autograd import (
    builtins,
    core,
    differential_operators,
    extend,
    numpy,
    tracer,
    util,
    wrap_util,
)
from gradtape_standins.autograd.builtins import dict, isinstance, list, tuple, type
from gradtape_standins.autograd.core import primitive_with_deprecation_warnings as primitive
from gradtape_standins.autograd.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)

__all__ = [
    "builtins",
    "checkpoint",
    "core",
    "deriv",
    "dict",
    "differential_operators",
    "elementwise_grad",
    "extend",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "multigrad_dict",
    "numpy",
    "primitive",
    "tensor_jacobian_product",
    "tracer",
    "tuple",
    "type",
    "util",
    "value_and_grad",
    "vector_jacobian_product",
    "wrap_util",
]

__getattr__ = missing_names.missing(
    __name__,
    submodules=("misc", "scipy", "test_util"),
    reasons={
        "multigrad": "fix: grad(fun, (0, 1, ...)) gives the gradients of several arguments in a tuple",
        "convenience_wrappers": "fix: what was in there is in autograd itself: from autograd import grad, hessian, ...",
    },
)
