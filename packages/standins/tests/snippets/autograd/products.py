"""Products with Jacobians and Hessians, without building them."""

import autograd.numpy as np
from autograd import (
    deriv,
    hessian_vector_product,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    tensor_jacobian_product,
    vector_jacobian_product,
)


def f(x):
    return np.sin(x) * np.sum(x)


x, v = np.array([0.5, 1.0, 1.5]), np.array([1.0, 0.0, -1.0])
vjp, value = make_vjp(f)(x)
print(value)
print(vjp(v))
print(*make_jvp(f)(x)(v))
print(hessian_vector_product(lambda x: np.sum(f(x) ** 2))(x, v))
hvp, gradient = make_hvp(lambda x: np.sum(f(x)))(x)
print(gradient, hvp(v))
print(vector_jacobian_product(f)(x, v))
print(tensor_jacobian_product(lambda x: np.outer(x, x))(x, np.ones((3, 3))))
print(make_ggnvp(f)(x)(v))
print(deriv(np.sin)(0.5))
