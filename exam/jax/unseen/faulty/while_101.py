# expect: GT313 or GT314 or GT312
# cause: reverse mode cannot go through while_loop, which keeps no intermediate states
# wrong: raises ValueError
# cure: jax.lax.while_loop(lambda s: s[1] < 20, lambda s: (0.5 * (s[0] + a / s[0]), s[1] + 1), (a, 0))[0] -> jax.lax.fori_loop(0, 20, lambda i, x: 0.5 * (x + a / x), a)
import jax


def root(a):
    return jax.lax.while_loop(lambda s: s[1] < 20, lambda s: (0.5 * (s[0] + a / s[0]), s[1] + 1), (a, 0))[0]  # <- here


g = jax.grad(root)(2.0)  # <- asked
