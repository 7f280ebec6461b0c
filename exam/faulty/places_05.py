# expect: GT301
# cause: in a chain of calls over several lines, the seed is one number for six
# wrong: raises ShapeError
# cure: gradient=np.array(1.0), -> gradient=np.ones((2, 3)),
import numpy as np

import gradtape as gt

x = gt.tensor(np.arange(6.0), requires_grad=True)
(
    gt.exp(-x)
    .reshape(2, 3)
    .clip(0.0, 0.9)
    .backward(  # <- here
        gradient=np.array(1.0),  # <- here
    )
)
print(x.grad)
