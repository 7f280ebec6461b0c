# expect: GT309
# cause: the NumPy view of the hidden activations is standardised in place for a plot, and the sigmoid has saved these numbers
# wrong: not torch.allclose(layer.weight.grad, expected)
# cure: hidden.detach().numpy() -> hidden.detach().numpy().copy()
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
layer, top = nn.Linear(3, 4), nn.Linear(4, 1)
x, y = torch.randn(12, 3), torch.randn(12, 1)


def gradient():
    z = nn.functional.mse_loss(top(torch.sigmoid(layer(x))), y)
    return torch.autograd.grad(z, layer.weight)[0]


expected = gradient()
hidden = torch.sigmoid(layer(x))  # <- here
loss = nn.functional.mse_loss(top(hidden), y)
shown = hidden.detach().numpy()  # <- here
shown -= shown.mean(axis=0)  # <- here
print(np.round(shown[:2], 2))
loss.backward()  # <- asked
