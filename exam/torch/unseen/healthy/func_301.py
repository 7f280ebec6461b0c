import torch
from torch.func import vmap

torch.manual_seed(0)


def kernel(a, b, width):
    distance = (a - b).square().sum()
    return torch.exp(-distance / width)


x = torch.randn(12, 3)
widths = torch.rand(12, requires_grad=True)
similarity = vmap(kernel, in_dims=(0, None, 0))(x, x[0], widths)
loss = similarity.sum()
loss.backward()
assert widths.grad.shape == (12,)
