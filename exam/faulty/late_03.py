# expect: GT201 or GT305 because GT204
# cause: requires_grad_() is called on the weights after the prediction was made with them
# wrong: raises UntrackedError
# cure: np.zeros(2)) -> np.zeros(2)).requires_grad_()
# cure: w.requires_grad_()  # <- here -> print(w)
import numpy as np

import gradtape as gt

X = np.array([[1.0, 2.0], [3.0, 4.0]])
w = gt.tensor(np.zeros(2))
pred = gt.sigmoid(X @ w)  # <- here
w.requires_grad_()  # <- here
loss = -np.log(pred).sum()
loss.backward()  # <- here
