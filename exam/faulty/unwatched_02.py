# expect: GT201 because GT203 or GT212
# cause: the tape was made with watch_accessed_variables=False and nothing was watched by hand
# wrong: dw is None and db is None
# cure: watch_accessed_variables=False -> watch_accessed_variables=True
import numpy as np

import gradtape as gt

w, b = gt.Variable(0.5), gt.Variable(0.0)  # <- here
x = np.linspace(0, 1, 20)
target = 2 * x + 1

with gt.GradientTape(watch_accessed_variables=False) as tape:  # <- here
    prediction = w * x + b  # <- here
    loss = np.mean((prediction - target) ** 2)
dw, db = tape.gradient(loss, (w, b))  # <- asked
