# expect: GT306
# cause: the tangent is a list in the order of the layers, the parameters are a dict
# wrong: raises StructureError
# cure: ([np.zeros(2), np.ones((2, 2))],) -> ({"b": np.zeros(2), "w": np.ones((2, 2))},)
import numpy as np

import gradtape as gt

params = {"w": np.eye(2), "b": np.zeros(2)}
model = lambda p: np.sum(np.tanh(np.ones(2) @ p["w"] + p["b"]))
value, slope = gt.jvp(model, (params,), ([np.zeros(2), np.ones((2, 2))],))  # <- here
