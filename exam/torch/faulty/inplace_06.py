# expect: GT309
# cause: the first rows of the parameter are overwritten in place with the pretrained ones while it requires a gradient
# wrong: raises RuntimeError
# cure: self.weight[: len(pretrained)] = pretrained  # <- here -> self.weight.data[: len(pretrained)] = pretrained
import torch
from torch import nn


class Lookup(nn.Module):
    def __init__(self, size, dim, pretrained):
        super().__init__()
        self.weight = nn.Parameter(0.1 * torch.randn(size, dim))
        self.weight[: len(pretrained)] = pretrained  # <- here

    def forward(self, ids):
        return self.weight[ids].sum(dim=1)


torch.manual_seed(0)
lookup = Lookup(12, 4, pretrained=torch.randn(5, 4))
out = nn.Linear(4, 1)
loss = out(lookup(torch.randint(0, 12, (3, 6)))).abs().mean()
loss.backward()
