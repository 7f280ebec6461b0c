# expect: GT404 or GT209 or GT201 or GT208
# cause: the gates are drawn by torch.bernoulli, whose derivative with respect to the probability is zero
# wrong: not bool(model.gate.grad.abs().sum())
# cure: torch.bernoulli(p) -> torch.bernoulli(p) - p.detach() + p
import torch
from torch import nn


class LearnedDropout(nn.Module):
    def __init__(self, inputs=10):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(inputs))
        self.net = nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x):
        p = torch.sigmoid(self.gate).expand_as(x)
        return self.net(x * torch.bernoulli(p))  # <- here


torch.manual_seed(0)
model = LearnedDropout()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(32, 10)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
