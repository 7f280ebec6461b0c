"""An autoencoder whose decoder uses the transposed weight of its encoder, and a layer applied several times."""

import torch
import torch.nn.functional as F
from torch import nn


class TiedAutoEncoder(nn.Module):
    def __init__(self, n, k):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(k, n) / n**0.5)
        self.bias_in, self.bias_out = nn.Parameter(torch.zeros(k)), nn.Parameter(torch.zeros(n))
        self.mix = nn.Linear(k, k)

    def forward(self, x):
        h = torch.tanh(F.linear(x, self.weight, self.bias_in))
        for _ in range(3):
            h = h + torch.tanh(self.mix(h))
        return F.linear(h, self.weight.t(), self.bias_out)


torch.manual_seed(0)
model = TiedAutoEncoder(9, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(30, 9)
losses = []
for _ in range(10):
    loss = F.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
