"""Compiled functions: counters, programs, how often Python runs them, loops, printing, looking at numbers."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
M = rng.normal(size=(60, 60))
A = M @ M.T + 60 * np.eye(60)

log_det = gt.jit(gt.value_and_grad(lambda s: np.sum(np.log(np.diag(np.linalg.cholesky(s * A))))))
print(log_det(1.5), log_det.stats)
print(log_det.program)
print(log_det.traced)
print(log_det.memory)

calls = []


def saturated(w, x):
    print("running", w.shape)
    calls.append(w.shape)
    return np.mean((np.tanh(x @ w * 50.0) - 0.25) ** 2)


step = gt.jit(gt.value_and_grad(saturated))
w, x = rng.normal(size=(3, 2)), rng.normal(size=(5, 3))
for _ in range(4):
    value, gradient = step(w, x)
    w = w - 0.1 * gradient
    print(repr(value), gradient.tolist())
print(calls, step.stats, len(step.program))


def by_tape(a):
    with gt.GradientTape() as tape:
        a = tape.watch(a)
        y = np.sum(np.exp(-a * a) * np.sin(a))
    return tape.gradient(y, a)


taped = gt.jit(by_tape)
print(taped(np.linspace(0.1, 1.0, 7)).tolist(), taped.stats, taped.program)


def loop(a):
    total = a
    for _ in range(120):
        total = total * 0.9 + np.sin(total) * 0.1
    return np.sum(total)


looped = gt.jit(gt.grad(loop))
print(looped(np.ones(3)).tolist(), looped.stats, len(looped.program), len(looped.traced))
print(looped.program)


def branching(a):
    return np.sum(a * a) if np.sum(a) > 1.0 else np.sum(np.abs(a))


branch = gt.jit(gt.value_and_grad(branching))
for a in (np.ones(3), -np.ones(3), np.ones(3), np.ones(4)):
    print(branch(a), branch.stats)


def looking(a):
    return np.sum(a * float(a[0]))


looked = gt.jit(gt.grad(looking))
print(looked(np.array([2.0, 3.0])), looked(np.array([2.0, 4.0])), looked(np.array([3.0, 4.0])), looked.stats)
lowered = gt.jit(gt.hessian(lambda a: np.sum(a**3)))
print(lowered.lower(np.ones(2)), lowered.stats)
print(gt.jit(gt.vmap(gt.grad(lambda a: np.sum(np.tanh(a * 40.0)))))(np.ones((2, 3))).tolist())
