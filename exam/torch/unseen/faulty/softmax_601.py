# expect: GT501
# cause: the attention weights are normalised over the queries instead of over the keys
# wrong: not torch.allclose(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
# cure: F.softmax(scores, dim=1) -> F.softmax(scores, dim=-1)
import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))

    def attend(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / x.shape[-1] ** 0.5
        return F.softmax(scores, dim=1)  # <- here

    def forward(self, x):
        weights = self.attend(x)
        return weights @ self.v(x), weights


torch.manual_seed(0)
reader = Reader(10)
optimizer = torch.optim.Adam(reader.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(4, 7, 10)
    read, weights = reader(x)
    loss = (read - x.mean(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
