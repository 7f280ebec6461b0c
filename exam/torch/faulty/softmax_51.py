# expect: GT501
# cause: the attention weights are normalised over the queries, and summed over the keys
# wrong: not torch.allclose(layer.weights.sum(dim=-1), torch.ones(3, 7))
# cure: torch.softmax(scores, dim=-2) -> torch.softmax(scores, dim=-1)
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, queries, memory):
        scores = torch.bmm(self.q(queries), self.k(memory).transpose(1, 2)) / queries.shape[-1] ** 0.5
        self.weights = torch.softmax(scores, dim=-2)  # <- here
        return torch.bmm(self.weights, self.v(memory))


torch.manual_seed(0)
layer = CrossAttention(6)
optimizer = torch.optim.Adam(layer.parameters(), lr=1e-2)
queries, memory = torch.randn(3, 7, 6), torch.randn(3, 9, 6)
for step in range(3):
    loss = (layer(queries, memory) - queries).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
