"""A vector-quantised autoencoder: argmin chooses the code, detach carries the gradient around it."""

import torch
import torch.nn.functional as F
from torch import nn


class VectorQuantiser(nn.Module):
    def __init__(self, codes, dim):
        super().__init__()
        self.codebook = nn.Embedding(codes, dim)

    def forward(self, z):
        distance = torch.cdist(z, self.codebook.weight)
        q = self.codebook(distance.argmin(dim=1))
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss


torch.manual_seed(0)
encoder, quantiser, decoder = nn.Linear(8, 3), VectorQuantiser(10, 3), nn.Linear(3, 8)
modules = nn.ModuleList([encoder, quantiser, decoder])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-2)
x = torch.randn(30, 8)
for step in range(5):
    q, vq_loss = quantiser(encoder(x))
    loss = F.mse_loss(decoder(q), x) + vq_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert encoder.weight.grad.any()
assert quantiser.codebook.weight.grad.any()
