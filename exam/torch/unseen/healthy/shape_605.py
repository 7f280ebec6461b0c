import torch
from torch import nn

torch.manual_seed(0)


class CrossAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.to_query = nn.Linear(width, width, bias=False)
        self.to_key = nn.Linear(width, width, bias=False)

    def scores(self, queries, keys):
        q, k = self.to_query(queries), self.to_key(keys)
        return torch.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5

    def forward(self, queries, keys):
        return self.scores(queries, keys).softmax(dim=-1) @ keys


module = CrossAttention(12)
optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
queries, memory = torch.randn(3, 4, 12), torch.randn(3, 9, 12)
for step in range(2):
    loss = module(queries, memory).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
