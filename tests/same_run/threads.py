"""Threads: how many there are, what they compute and in which order, their errors and context variables."""

import contextvars
import sys
import threading

import numpy as np

import gradtape as gt

print([thread.name for thread in threading.enumerate()], threading.excepthook is threading.__excepthook__)
print(len(contextvars.copy_context()), sorted(variable.name for variable in contextvars.copy_context()))
number = contextvars.ContextVar("number", default=0)
number.set(3)
results = {}
x = gt.Variable(np.linspace(-40.0, 40.0, 6))
step = gt.jit(gt.value_and_grad(lambda a: np.sum(np.tanh(a) ** 2)))


def work(name):
    with gt.GradientTape() as tape:
        y = np.sum(np.tanh(x * name))
    value, gradient = step(np.linspace(0.0, 1.0, 4) * name)
    results[name] = tape.gradient(y, x).numpy().tolist(), value, gradient.tolist(), number.get()


for name in range(1, 4):
    thread = threading.Thread(target=work, args=(name,))
    thread.start()
    thread.join()
for name in sorted(results):
    print(name, results[name])
print(step.stats, number.get(), len(threading.enumerate()))
seen = []
threading.excepthook = lambda given: seen.append((given.exc_type.__name__, str(given.exc_value).splitlines()[0]))
thread = threading.Thread(target=lambda: x + np.ones(5))
thread.start()
thread.join()
print(seen, contextvars.copy_context().run(number.get))


def late():
    main = threading.main_thread()
    main.join()
    with gt.GradientTape() as tape:
        y = np.sum(x * x)
    print("late", tape.gradient(y, x).numpy().tolist(), sys.argv[1:], sys.modules["__main__"].x is x)


threading.Thread(target=late).start()
print("the script ends")
