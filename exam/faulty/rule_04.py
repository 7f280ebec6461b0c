# expect: GT302
# cause: for the bias the rule forgets to sum over the batch: (50, 8) for an argument of shape (8,)
# wrong: raises RuleError
# cure: return g @ w.T, x.T @ g, g -> return g @ w.T, x.T @ g, g.sum(axis=0)
import numpy as np

import gradtape as gt


@gt.custom_vjp
def affine(x, w, b):
    return x @ w + b


def affine_bwd(residuals, g):  # <- here
    x, w = residuals
    return g @ w.T, x.T @ g, g  # <- here


affine.defvjp(lambda x, w, b: (affine(x, w, b), (x, w)), affine_bwd)

rng = np.random.default_rng(1)
x = rng.normal(size=(50, 4))
w, b = gt.Variable(rng.normal(size=(4, 8))), gt.Variable(np.zeros(8))
with gt.GradientTape() as tape:
    loss = np.mean(affine(x, w, b) ** 2)  # <- asked
grads = tape.gradient(loss, [w, b])  # <- asked
