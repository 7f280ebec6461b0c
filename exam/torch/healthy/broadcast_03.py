"""A mixture density network: each target meets each component, by unsqueeze."""

import math

import torch
from torch import nn


class MixtureDensity(nn.Module):
    def __init__(self, components=4):
        super().__init__()
        self.hidden = nn.Linear(1, 12)
        self.heads = nn.ModuleDict({name: nn.Linear(12, components) for name in ("logit", "mean", "log_std")})

    def forward(self, x):
        h = torch.tanh(self.hidden(x))
        return self.heads["logit"](h), self.heads["mean"](h), self.heads["log_std"](h)


def negative_log_likelihood(logit, mean, log_std, y):
    z = (y.unsqueeze(-1) - mean) / log_std.exp()
    log_normal = -0.5 * z**2 - log_std - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(torch.log_softmax(logit, dim=-1) + log_normal, dim=-1).mean()


torch.manual_seed(0)
x = torch.randn(50, 1)
y = torch.sin(2 * x).squeeze(-1)
net = MixtureDensity()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
history = []
for _ in range(25):
    loss = negative_log_likelihood(*net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < history[0]
