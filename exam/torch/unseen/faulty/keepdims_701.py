# expect: GT103 or GT101
# cause: the hand-written softmax divides by the sums of the rows without keeping their axis, and the scores are square
# wrong: not torch.allclose(weights.sum(dim=1), torch.ones(10), atol=1e-4)
# cure: exp.sum(dim=1) -> exp.sum(dim=1, keepdim=True)
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))

    def weights(self, x):
        scores = self.query(x) @ self.key(x).T / math.sqrt(x.shape[1])
        exp = torch.exp(scores - scores.max())
        return exp / exp.sum(dim=1)  # <- here

    def forward(self, x):
        return self.weights(x) @ self.value(x)


torch.manual_seed(0)
layer, head = Attention(8), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=1e-2)
sentence, tags = torch.randn(10, 8), torch.randint(0, 2, (10,))
for step in range(4):
    loss = nn.functional.cross_entropy(head(layer(sentence)), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
weights = layer.weights(sentence).detach()
