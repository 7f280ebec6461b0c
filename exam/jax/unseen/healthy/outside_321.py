import jax
import jax.numpy as jnp

data = jnp.linspace(0.0, 1.0, 20)
targets = 2.0 * data
traces = 0
epoch = 0
seen = []


def note(value):
    seen.append((epoch, float(value)))


@jax.jit
def step(w, rate):
    global traces
    traces += 1
    value, g = jax.value_and_grad(lambda w: jnp.mean((w * data - targets) ** 2))(w)
    jax.debug.callback(note, value)
    return w - rate * g


w = jnp.array(0.0)
for epoch in range(6):
    rate = 0.5 / (1 + epoch)
    w = step(w, rate)
    data = jnp.array(data)  # another array with the same numbers
jax.effects_barrier()
assert traces == 1
assert len(seen) == 6
assert w > 0.5
