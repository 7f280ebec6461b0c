# expect: GT201 because GT202
# says: params["bias"]
# says: params['slope']
# cause: the intercept is a parameter that the prediction leaves out
# wrong: g is None
# cure: params["slope"] * x -> params["slope"] * x + params["bias"]
import numpy as np

import gradtape as gt

x = np.linspace(0.0, 1.0, 12)
y = 2.0 * x + 0.5
params = {"slope": gt.Variable(1.0), "bias": gt.Variable(0.0)}

with gt.GradientTape() as tape:
    pred = params["slope"] * x
    loss = np.mean((pred - y) ** 2)  # <- here
g = tape.gradient(loss, params["bias"])  # <- here
