"""Memory: what is freed, when, in which order; the garbage collector; locked arrays."""

import gc
import sys
import weakref

import numpy as np

import gradtape as gt

print(gc.isenabled(), gc.get_threshold(), gc.callbacks, gc.get_debug())
gc.collect()
gc.disable()


class Noticed(np.ndarray):
    """An array that can be referred to weakly."""


def noticed(shape):
    return np.ones(shape).view(Noticed)


order = []
data = noticed((4, 3))
w = gt.Variable(np.linspace(-30.0, 30.0, 6).reshape(3, 2))
with gt.GradientTape() as tape:
    hidden = np.tanh(data @ w)
    loss = np.mean(hidden**2)
references = {name: weakref.ref(item) for name, item in (("hidden", hidden), ("loss", loss), ("tape", tape))}
weakref.finalize(hidden, order.append, "hidden").atexit = False
weakref.finalize(tape, order.append, "tape").atexit = False
data_reference = weakref.ref(data)
print(sys.getrefcount(data), data.flags.writeable)
gradient = tape.gradient(loss, w)
print(sys.getrefcount(data), sys.getrefcount(gradient), sys.getrefcount(w), data.flags.writeable)
del hidden
print({name: reference() is None for name, reference in references.items()}, order)
del loss, tape
print({name: reference() is None for name, reference in references.items()}, order)
del data
print(data_reference() is None)
a = gt.tensor(np.linspace(-40.0, 40.0, 5), requires_grad=True)
middle = np.tanh(a)
reference = weakref.ref(middle)
total = np.sum(middle)
del middle
total.backward()
print(reference() is None, a.grad.numpy().tolist())
del total
large = gt.Variable(np.ones((300, 300)))
with gt.GradientTape(persistent=True) as tape:
    y = np.sum(np.tanh(large * 30.0))
saved = weakref.ref(y)
tape.gradient(y, large)
del tape, y
print(saved() is None)
kept = []
try:
    broken = gt.Variable(np.ones(3))
    other = gt.Variable(np.ones(4))
    kept.append(weakref.ref(broken))
    broken + other
except gt.ShapeError:
    del broken, other
print(kept[0]() is None)
step = gt.jit(gt.value_and_grad(lambda v: np.mean(np.tanh(v * 40.0))))
given = noticed((3,))
reference = weakref.ref(given)
step(np.asarray(given, dtype=np.float64))
step(given)
del given
print(reference() is None, gc.collect() >= 0, gc.isenabled(), gc.garbage)
locked = np.ones(3)
with gt.GradientTape() as tape:
    y = np.sum(a * a)
    z = np.sum(large[0, :3] * locked)
try:
    locked[0] = 2.0
except ValueError as error:
    print(error)
tape.gradient(z, large)
locked[0] = 2.0
print(locked, tape.saved())
del tape
gc.enable()
print(sys.getrecursionlimit(), sys.getswitchinterval(), np.geterr(), np.get_printoptions()["precision"])
