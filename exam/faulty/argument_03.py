# expect: GT314 or GT311
# cause: has_aux=True promises a pair, and the function returns the loss only
# wrong: raises OperandError
# cure: , has_aux=True) -> )
import numpy as np

import gradtape as gt

loss = lambda w: np.sum(np.log1p(np.exp(w)))  # <- here
step = gt.value_and_grad(loss, has_aux=True)
result = step(np.zeros(4))  # <- here
