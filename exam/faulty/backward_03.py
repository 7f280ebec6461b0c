# expect: GT402
# cause: x**0.5 has an infinite slope at the empty bin
# wrong: not np.isfinite(rates.grad.numpy()).all()
# cure: rates**0.5 -> (rates + 1e-9) ** 0.5
import numpy as np

import gradtape as gt

observed = np.array([1.0, 0.0, 4.0])
rates = gt.tensor([1.0, 0.0, 3.0], requires_grad=True)
hellinger = np.sum((rates**0.5 - np.sqrt(observed) - 0.1) ** 2)  # <- here
hellinger.backward()
