# expect: GT210 or GT312 or GT314
# cause: item() is called inside vmap, where a tensor stands for a whole batch and has no one number
# wrong: raises RuntimeError
# cure: torch.exp(-distance / width.item()) -> torch.exp(-distance / width)
import torch
from torch.func import vmap

torch.manual_seed(0)


def kernel(a, b, width):
    distance = (a - b).square().sum()
    return torch.exp(-distance / width.item())  # <- here


x = torch.randn(12, 3)
widths = torch.rand(12, requires_grad=True)
similarity = vmap(kernel, in_dims=(0, None, 0))(x, x[0], widths)  # <- asked
loss = similarity.sum()
loss.backward()
