import torch
from torch import nn


class Retrieval(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(6, 4, bias=False)

    @staticmethod
    def unit(x):
        return x / (x.norm(dim=-1, keepdim=True) + 1e-6)

    def forward(self, tokens, query):
        return self.unit(self.project(tokens)) @ self.unit(self.project(query)).unsqueeze(-1)


torch.manual_seed(0)
tokens = torch.randn(3, 5, 6)
tokens[1, 3:] = 0.0
model = Retrieval()
score = model(tokens, torch.randn(3, 6))
loss = score.square().mean()
loss.backward()
assert torch.isfinite(loss)
