# expect: GT101
# cause: y was turned into a column (35, 1) for another library, and the prediction is a vector (35,)
# wrong: loss.item() > 0.4
# cure: y - (slope * x + offset) -> y[:, 0] - (slope * x + offset)
import numpy as np

import gradtape as gt

x = np.linspace(-1, 1, 35)
y = (0.8 * x + 0.1).reshape(-1, 1)

slope = gt.tensor(0.8, requires_grad=True)
offset = gt.tensor(0.1, requires_grad=True)
residual = y - (slope * x + offset)  # <- here
loss = (residual**2).mean()
loss.backward()
print(loss.item(), slope.grad, offset.grad)
