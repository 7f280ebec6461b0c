"""Functions that a gradient runs or compiles as a whole: loops, differential equations, roots, integrals."""

import numpy as np

import gradtape as gt

calls = {}


def counted(name, function):
    def call(*arguments):
        calls[name] = calls.get(name, 0) + 1
        return function(*arguments)

    return call


def show(name, work):
    try:
        found = work()
    except Exception as error:
        found = type(error).__name__, str(error).splitlines()[0]
    print(name, found, calls)


decay = counted("decay", lambda y, t, rate: -rate * y)
times = np.linspace(0.0, 1.0, 5)
show("ode", lambda: gt.grad(lambda rate: np.sum(gt.odeint(decay, np.ones(2), times, rate)))(1.5))
step = counted("step", lambda carry, x: (np.tanh(carry * 30.0 + x), carry))
show("scan", lambda: gt.grad(lambda v: np.sum(gt.scan(step, v, np.ones((6, 2)))[1]))(np.ones(2)))
body = counted("body", lambda index, value: value * 1.1 + np.sin(value))
show("loop", lambda: gt.grad(lambda v: np.sum(gt.fori_loop(0, 7, body, v)))(np.ones(3)))
root = gt.implicit.root(counted("condition", lambda y, a: y**3 + y - a))(counted("solver", lambda y, a: np.ones(1)))
show("root", lambda: gt.grad(lambda a: np.sum(root(np.zeros(1), a)))(np.full(1, 2.0)))
integrand = counted("integrand", lambda x, a: np.exp(-a * x))
show("quad", lambda: gt.grad(lambda a: gt.quad(integrand, 0.0, 1.0, (a,))[0])(2.0))
cost = counted("cost", lambda v: np.sum((v - 3.0) ** 4 + np.tanh(v * 40.0)))
show("minimize", lambda: gt.optimize.minimize(cost, np.zeros(2)))
for name, function in (("scan", gt.scan), ("loop", gt.fori_loop)):
    if name == "scan":
        compiled = gt.jit(gt.value_and_grad(lambda v: np.sum(gt.scan(step, v, np.ones((80, 2)))[1])))
    else:
        compiled = gt.jit(gt.value_and_grad(lambda v: np.sum(gt.fori_loop(0, 90, body, v * 0.001))))
    for _ in range(2):
        show(name, lambda compiled=compiled: compiled(np.ones(2)))
    print(compiled.stats, len(compiled.program), len(compiled.traced), function.__name__)


def by_hand(w):
    states, state = [], w
    for index in range(150):
        state = np.tanh(state * 1.5 + 0.01 * index)
        if index % 50 == 0:
            states.append(state)
    return np.sum(state) + sum(np.sum(each**2) for each in states)


def taped(w):
    with gt.GradientTape(persistent=True) as tape:
        w = tape.watch(w)
        total = by_hand(w)
    return total, tape.gradient(total, w), tape.gradient(total, w)


for name, function in (("grad", gt.grad(by_hand)), ("taped", taped)):
    compiled = gt.jit(function)
    show(name, lambda compiled=compiled: [np.asarray(x).tolist() for x in compiled(np.array([0.5, -0.5]))])
    print(compiled.stats, len(compiled.program), len(compiled.traced))
    print(compiled.program)


def trained(w):
    for _ in range(60):
        with gt.GradientTape() as tape:
            w = tape.watch(w)
            loss = np.sum((np.tanh(w * 20.0) - 0.5) ** 2)
        w = gt.stop_gradient(w - 0.01 * tape.gradient(loss, w))
    return w


compiled = gt.jit(trained)
show("trained", lambda: compiled(np.array([0.1, 0.2])))
print(compiled.stats, len(compiled.program), len(compiled.traced), compiled.program)
