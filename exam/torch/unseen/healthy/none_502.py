"""An autoencoder, and then a probe on its detached code with an optimiser of its own."""

import torch
from torch import nn

torch.manual_seed(7)
data = torch.rand(32, 12)
encoder = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))
decoder = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 12))
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=1e-3)


def reconstruct(batch):
    code = encoder(batch)
    return decoder(code)


for epoch in range(4):
    for batch in data.split(8):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(reconstruct(batch), batch)
        loss.backward()
        optimizer.step()
probe = nn.Linear(3, 2)
probe_optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
for _ in range(2):
    probe_loss = nn.functional.cross_entropy(probe(encoder(data).detach()), torch.arange(32) % 2)
    probe_optimizer.zero_grad()
    probe_loss.backward()
    probe_optimizer.step()
assert encoder[0].weight.grad is not None
