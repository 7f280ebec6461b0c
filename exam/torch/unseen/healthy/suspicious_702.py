"""A vector-quantised autoencoder: the distances of all codes to all vectors from a column, a vector and a product."""

import torch
import torch.nn.functional as F
from torch import nn


class Quantiser(nn.Module):
    def __init__(self, codes=16, width=4, beta=0.25):
        super().__init__()
        self.codebook = nn.Parameter(torch.randn(codes, width))
        self.beta = beta

    def forward(self, z):
        distance = (z**2).sum(1, keepdim=True) + (self.codebook**2).sum(1) - 2 * z @ self.codebook.t()
        quantised = self.codebook[distance.argmin(dim=1)]
        loss = F.mse_loss(quantised, z.detach()) + self.beta * F.mse_loss(z, quantised.detach())
        return z + (quantised - z).detach(), loss


torch.manual_seed(0)
encoder, quantiser, decoder = nn.Linear(10, 4), Quantiser(), nn.Linear(4, 10)
optimizer = torch.optim.Adam([*encoder.parameters(), *quantiser.parameters(), *decoder.parameters()], lr=1e-3)
for step in range(4):
    x = torch.randn(16, 10)
    z, extra = quantiser(encoder(x))
    loss = F.mse_loss(decoder(z), x) + extra
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert encoder.weight.grad.abs().sum() > 0
