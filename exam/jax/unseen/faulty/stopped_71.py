# expect: GT201 or GT404 because GT208
# cause: in the distillation loss the student is stopped, not the teacher
# wrong: not np.any(gradient)
# cure: jax.lax.stop_gradient(x @ student), x @ teacher -> x @ student, jax.lax.stop_gradient(x @ teacher)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(4)
x = jnp.asarray(rng.normal(size=(16, 5)))
teacher = jnp.asarray(rng.normal(size=(5, 3)))
student = jnp.zeros((5, 3))


def distillation(student, temperature=2.0):
    guess, wanted = jax.lax.stop_gradient(x @ student), x @ teacher  # <- here
    log_q = jax.nn.log_softmax(guess / temperature)
    p = jax.nn.softmax(wanted / temperature)
    return -jnp.mean(jnp.sum(p * log_q, axis=-1))


@jax.jit
def update(student):
    value, gradient = jax.value_and_grad(distillation)(student)  # <- asked
    return student - 0.5 * gradient, gradient


for _ in range(3):
    student, gradient = update(student)
