"""A GAN: each optimiser has the parameters of one network, and its gradient is by those only."""

import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
real = 2.0 + jax.random.normal(key, (32, 1))
gen = {"scale": jnp.ones(1), "shift": jnp.zeros(1)}
disc = {"w": jnp.array([[0.1]]), "b": jnp.zeros(1)}
g_tx, d_tx = optax.sgd(0.1), optax.sgd(0.1)
g_state, d_state = g_tx.init(gen), d_tx.init(disc)


def fake(gen, noise):
    return gen["scale"] * noise + gen["shift"]


def score(disc, x):
    return x @ disc["w"] + disc["b"]


def disc_loss(disc, gen, noise):
    samples = jax.lax.stop_gradient(fake(gen, noise))
    return jnp.mean(jax.nn.softplus(-score(disc, real))) + jnp.mean(jax.nn.softplus(score(disc, samples)))


def gen_loss(gen, disc, noise):
    return jnp.mean(jax.nn.softplus(-score(disc, fake(gen, noise))))


for k in jax.random.split(key, 6):
    noise = jax.random.normal(k, (32, 1))
    d_up, d_state = d_tx.update(jax.grad(disc_loss)(disc, gen, noise), d_state)
    disc = optax.apply_updates(disc, d_up)
    g_up, g_state = g_tx.update(jax.grad(gen_loss)(gen, disc, noise), g_state)
    gen = optax.apply_updates(gen, g_up)
assert float(gen["shift"][0]) > 0.0
