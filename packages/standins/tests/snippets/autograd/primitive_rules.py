"""Rules for several arguments, for some of them, and forwards."""

import autograd.numpy as np
from autograd import grad, jacobian, make_jvp
from autograd.extend import defjvp, defvjp, defvjp_argnum, primitive


@primitive
def weigh(a, x, power=2):
    return a * x**power


defvjp(
    weigh,
    lambda ans, a, x, power=2: lambda g: np.sum(g * x**power),
    lambda ans, a, x, power=2: lambda g: g * a * power * x ** (power - 1),
)
defjvp(
    weigh,
    lambda g, ans, a, x, power=2: g * x**power,
    lambda g, ans, a, x, power=2: g * a * power * x ** (power - 1),
)
x = np.array([1.0, 2.0, 3.0])
print(grad(lambda a: np.sum(weigh(a, x)))(2.0))
print(grad(lambda x: np.sum(weigh(2.0, x, power=3)))(x))
print(jacobian(lambda x: weigh(2.0, x))(x))
print(make_jvp(lambda x: weigh(2.0, x))(x)(np.array([1.0, 0.0, 0.0]))[1])
print(grad(grad(lambda a: weigh(a, 3.0) ** 2))(2.0))


@primitive
def select(index, *choices):
    return choices[index] * 1.0


defvjp_argnum(
    select, lambda argnum, ans, args, kwargs: lambda g: g if argnum == args[0] + 1 else np.zeros_like(args[argnum])
)
print(grad(lambda a, b: select(1, a, b) ** 2, (0, 1))(3.0, 4.0))


@primitive
def clipped(x, limit):
    return np.minimum(x, limit)


defvjp(clipped, lambda ans, x, limit: lambda g: g * (x < limit), None)
print(grad(lambda x, limit: np.sum(clipped(x, limit)), (0, 1))(x, 2.5))
try:
    grad(primitive(np.sinh))(1.0)
except NotImplementedError as error:
    print(str(error)[:6])
