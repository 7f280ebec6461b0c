# expect: GT305
# cause: the total is kept as .item() and backward is called on a tensor made of it
# wrong: raises UntrackedError
# cure: total += loss.item() -> total = total + loss
# cure: gt.tensor(total) -> total
import numpy as np

import gradtape as gt

w = gt.tensor([1.0, -1.0], requires_grad=True)
total = 0.0
for x in np.eye(2):
    loss = (x @ w - 0.5) ** 2
    total += loss.item()  # <- here
total = gt.tensor(total)  # <- here
total.backward()  # <- here
