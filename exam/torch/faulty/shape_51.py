# expect: GT111
# cause: the weight is stored as (out, in) like nn.Linear does, and multiplied without a transpose
# wrong: raises RuntimeError
# cure: x @ self.weight + self.bias -> x @ self.weight.T + self.bias
import math

import torch
from torch import nn


class MyLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) / math.sqrt(n_in))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return x @ self.weight + self.bias  # <- here


torch.manual_seed(0)
model = nn.Sequential(MyLinear(7, 20), nn.ReLU(), MyLinear(20, 2))
x = torch.randn(12, 7)
loss = nn.functional.cross_entropy(model(x), torch.randint(0, 2, (12,)))
loss.backward()
