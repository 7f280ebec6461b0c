"""Numbers to the last bit, in place writes, generators, complex and float32 numbers, and formatted output."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(7)


def bits(value):
    array = np.ascontiguousarray(value.numpy() if isinstance(value, gt.Tensor) else value)
    return array.dtype.str, array.shape, array.tobytes().hex()[:96]


def steps():
    x = gt.Variable(np.linspace(-20.0, 20.0, 6))
    with gt.GradientTape() as tape:
        total = 0.0
        for scale in (0.5, 1.0, 2.0):
            total = total + np.sum(np.tanh(x * scale) ** 2)
            yield bits(total)
        yield bits(tape.gradient(total, x))


for step in steps():
    print(step)
suspended = steps()
print(next(suspended))
suspended.close()
x = gt.Variable(rng.normal(size=(4, 4)).astype(np.float32))
for _ in range(2):
    with gt.GradientTape() as tape:
        y = x * 30.0
        y[0] = y[1] * 2.0
        y += 1.0
        y[:, 1:3] *= np.tanh(y[:, :2])
        loss = np.mean(y**2)
    print(bits(loss), bits(tape.gradient(loss, x)))
z = gt.Variable(rng.normal(size=3) + 1j * rng.normal(size=3))
with gt.GradientTape() as tape:
    loss = np.sum(np.abs(np.fft.fft(z)) ** 2)
print(bits(tape.gradient(loss, z)))
w = rng.normal(size=(40, 40))
print(bits(gt.grad(lambda a: np.linalg.slogdet(a @ a.T + np.eye(40))[1])(w)))
print(bits(gt.grad(lambda a: np.sum(np.linalg.eigh(a + a.T)[0] ** 3))(w)))
print(bits(gt.jacobian(lambda a: np.sort(a) ** 2)(np.array([3.0, 1.0, 2.0]))))
print(bits(gt.vmap(gt.grad(lambda a: np.sum(np.tanh(a * 20.0))))(w)))
print(bits(gt.jvp(lambda a: np.cumsum(a**2), (w[0],), (w[1],))[1]))
print(bits(gt.grad(lambda a: np.sum(np.where(a > 0, np.sqrt(np.abs(a)), 0.0)))(w[0])))
large = rng.normal(size=(200, 300))
v = gt.Variable(large)
with gt.GradientTape() as tape:
    h = np.maximum(v @ large.T, 0.0)
    loss = np.mean(h * h) + np.mean(np.tanh(h * 100.0))
print(bits(tape.gradient(loss, v)))
t = gt.tensor([1.0, 2.0], requires_grad=True)
(np.exp(t) * t).sum().backward()
print(t, f"{t.sum():.17g}", repr(t.grad), str(t * 1.0), [float(item) for item in t.grad])
try:
    gt.jit(gt.grad(lambda a: np.sum(a @ np.ones((3, 2)))))(np.ones((2, 2)))
except gt.GradTapeError as error:
    print(type(error).__name__, error.problem.title)
try:
    gt.jit(lambda a: np.linalg.cholesky(a))(-np.eye(2))
except Exception as error:
    print(type(error).__mro__, str(error).splitlines()[0])
for _ in range(2):
    try:
        with gt.check_numerics(), gt.GradientTape() as tape:
            y = np.sum(np.log(v * 0.0))
            tape.gradient(y, v)
    except gt.GradTapeError as error:
        print(type(error).__name__, str(error).splitlines()[0])
print(gt.audit_batch(lambda a: np.tanh(a * 30.0))(np.ones((2, 3))))
