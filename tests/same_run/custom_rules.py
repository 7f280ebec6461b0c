"""Code of the user's that a gradient calls: custom rules, hooks, checkpoints, and how often each is called."""

import traceback

import numpy as np

import gradtape as gt

calls = []


@gt.custom_vjp
def scaled(x):
    calls.append("forward")
    return np.sin(x) * 2.0


def scaled_forward(x):
    calls.append("rule forward")
    return np.sin(x) * 2.0, x


def scaled_backward(saved, gradient):
    calls.append("rule backward")
    print("backward of", gradient.shape)
    return (gradient * np.cos(saved) * 2.0,)


scaled.defvjp(scaled_forward, scaled_backward)
x = gt.Variable(np.linspace(0.1, 1.0, 4))
for _ in range(3):
    with gt.GradientTape() as tape:
        y = np.sum(scaled(x * 30.0) ** 2)
    print(tape.gradient(y, x).numpy().tolist(), calls)

calls.clear()


def block(a):
    calls.append("block")
    return np.tanh(a) * np.exp(-a)


with gt.GradientTape(persistent=True) as tape:
    y = np.sum(gt.checkpoint(block)(x) ** 2)
print(tape.gradient(y, x).numpy().tolist(), calls)
print(tape.gradient(y, x).numpy().tolist(), calls)

hooked = []
a = gt.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = a * a
b.register_hook(lambda gradient: hooked.append(gradient.numpy().tolist()))
a.register_hook(lambda gradient: gradient * 2.0)
b.sum().backward()
print(hooked, a.grad.numpy().tolist())


@gt.custom_jvp
def cubed(x):
    calls.append("cubed")
    return x**3


@cubed.defjvp
def cubed_jvp(primals, tangents):
    calls.append("jvp")
    return primals[0] ** 3, 3.0 * primals[0] ** 2 * tangents[0]


calls.clear()
print(gt.grad(lambda v: np.sum(cubed(v)))(np.array([1.0, 2.0])), calls)
print(gt.jvp(cubed, (2.0,), (1.0,)), calls)
calls.clear()
step = gt.jit(gt.grad(lambda v: np.sum(scaled(v) * cubed(v))))
print([step(np.array([1.0, 2.0])) for _ in range(3)], calls, step.stats)
calls.clear()


def residual(root, parameter):
    calls.append("residual")
    return root**3 - parameter


def body(carry, value):
    calls.append("body")
    carry = carry * 0.5 + value
    return carry, carry


print(gt.grad(lambda v: gt.scan(body, 0.0, v)[0])(np.ones(5)), len(calls))
with gt.GradientTape() as tape:
    with gt.GradientTape() as inner:
        y = np.sum(scaled(x))
    first = inner.gradient(y, x)
    total = np.sum(first * first)
print(tape.gradient(total, x).numpy().tolist(), len(calls))
print(gt.gradcheck(scaled, np.array([0.3, 0.7])), len(calls))


def failing(saved, gradient):
    calls.append("failing")
    raise ArithmeticError("a rule that fails")


broken = gt.custom_vjp(lambda v: v * 2.0)
broken.defvjp(lambda v: (v * 2.0, None), failing)
try:
    gt.grad(lambda v: np.sum(broken(v)))(np.ones(2))
except ArithmeticError as error:
    frames = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    print(frames, error.__context__, error.__cause__, len(calls))
