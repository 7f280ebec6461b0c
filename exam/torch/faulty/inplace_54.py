# expect: GT309
# cause: the NumPy array shares its memory with the activation that tanh has saved, and writing to it changes the gradient
# wrong: not torch.allclose(linear.weight.grad, expected, atol=1e-5)
# cure: hidden.detach().numpy()  # <- here -> hidden.detach().numpy().copy()
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
linear = nn.Linear(4, 6)
x = torch.randn(9, 4)
expected = torch.autograd.grad(torch.tanh(linear(x)).sum(), linear.weight)[0]


def save_picture(hidden):
    picture = hidden.detach().numpy()  # <- here
    picture -= picture.min()  # <- here
    picture *= 255 / picture.max()  # <- here
    return picture.astype(np.uint8)


hidden = torch.tanh(linear(x))
image = save_picture(hidden)
loss = hidden.sum()
loss.backward()  # <- asked
