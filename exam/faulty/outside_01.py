# expect: GT201 because GT211
# cause: the loss is computed after the with block, when the tape no longer records
# wrong: g is None
# cure: \nloss = ( -> \n    loss = (
import numpy as np

import gradtape as gt

w = gt.Variable([1.0, 1.0])
x = np.array([[1.0, 2.0], [3.0, 4.0]])
with gt.GradientTape() as tape:
    pred = x @ w
loss = (pred**2).mean()  # <- here
g = tape.gradient(loss, w)  # <- asked
