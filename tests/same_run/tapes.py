"""Tapes: used once and twice, nested, persistent, reset, left by an error; `why`, `saved`, `coverage`, `report`."""

import os
import tempfile

import numpy as np

import gradtape as gt

x = gt.Variable(np.linspace(-3.0, 3.0, 5), name="x")
unused = gt.Variable(1.0, name="unused")


def attempt(work):
    try:
        print(work())
    except Exception as error:
        print(type(error).__name__, error, type(error.__cause__), type(error.__context__))


with gt.GradientTape() as tape:
    y = np.sum(x**2)
attempt(lambda: tape.gradient(y, x).numpy().tolist())
attempt(lambda: tape.gradient(y, x))
attempt(lambda: tape.report(os.path.join(tempfile.mkdtemp(), "r.html")).name)
attempt(lambda: gt.explain.show(tape).to_text())
with gt.GradientTape(persistent=True) as tape:
    y = np.sum(np.tanh(x * 20.0))
    z = np.sum(y * x)
    middle = tape.gradient(y, x)
attempt(lambda: tape.gradient(z, [x, unused], unconnected_gradients="zero"))
attempt(lambda: tape.gradient(y, x).numpy().tolist())
attempt(lambda: tape.why(y, unused))
attempt(tape.saved)
attempt(tape.coverage)
attempt(lambda: gt.explain.show(tape).to_text())
attempt(lambda: tape.jacobian(x * x, x))
tape.reset()
attempt(lambda: tape.gradient(y, x))
attempt(lambda: tape.__enter__() and tape.__enter__())
try:
    with gt.GradientTape() as broken:
        y = x + np.ones(4)
except gt.ShapeError as error:
    print(error.problem.to_text())
a = gt.tensor([1.0, 2.0], requires_grad=True)
b = (a * a).sum()
b.backward()
attempt(b.backward)
print(a.grad)
attempt(lambda: (a * a).backward())
attempt(lambda: gt.grad(lambda v: v * v)(np.ones(3)))
attempt(lambda: gt.value_and_grad(lambda v: np.sum(v) / 0)(np.ones(3)))
print(gt.hessian(lambda v: np.sum(v**3))(np.array([1.0, 2.0])))
c = gt.tensor([1.0, 2.0], requires_grad=True)
d = c * 2.0
d.retain_grad()
(d * d).sum().backward(retain_graph=True)
(d * d).sum().backward()
print(c.grad, d.grad, c.grad.requires_grad)


# an array that the user changes behind the tape, on a way that the gradient asked for does not take
data = np.ones(3)
view = data[:]
first = gt.Variable(np.ones(3))
with gt.GradientTape() as tape:
    u = first * data
    second = gt.Variable(2.0)
    y = np.sum(u) * second
try:
    view.flags.writeable = True
    view[0] = 5.0
except ValueError as error:
    print(error)
attempt(lambda: tape.gradient(y, second))
