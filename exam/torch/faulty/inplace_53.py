# expect: GT309
# cause: a row of a parameter is set in place, outside of no_grad
# wrong: raises RuntimeError
# cure: self.table[0] = 0.0  # <- here -> self.table.data[0] = 0.0
import torch
from torch import nn


class SubwordTable(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.table = nn.Parameter(torch.randn(size, dim))
        self.score = nn.Linear(dim, 1)

    def forward(self, ids):
        self.table[0] = 0.0  # <- here
        return self.score(self.table[ids].mean(dim=1))


torch.manual_seed(0)
model = SubwordTable(10, 4)
ids = torch.randint(0, 10, (6, 5))
loss = model(ids).square().mean()
loss.backward()
