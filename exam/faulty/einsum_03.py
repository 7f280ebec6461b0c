# expect: GT112
# cause: the output asks for k, which no operand has
# wrong: raises ValueError
# cure: "ij,ij->ik" -> "ij,ij->i"
import numpy as np

import gradtape as gt

a = gt.tensor(np.ones((3, 4)), requires_grad=True)
b = np.arange(12.0).reshape(3, 4)
rows = gt.einsum("ij,ij->ik", a, b)  # <- here
rows.sum().backward()
print(a.grad)
