"""An auto-decoder: latent codes of the shapes are rows of an embedding that is trained with the network."""

import torch
from torch import nn

torch.manual_seed(0)
shapes, width = 5, 4
latents = nn.Embedding(shapes, width)
nn.init.normal_(latents.weight, 0.0, 0.01)
decoder = nn.Sequential(nn.Linear(width + 2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
optimizer = torch.optim.Adam(
    [{"params": decoder.parameters(), "lr": 1e-3}, {"params": latents.parameters(), "lr": 1e-2}]
)
for step in range(4):
    which = torch.randint(0, shapes, (20,))
    points = torch.rand(20, 2) * 2 - 1
    truth = (points.norm(dim=1, keepdim=True) - 0.1 * (which + 1).unsqueeze(1)).clamp(-0.1, 0.1)
    predicted = decoder(torch.cat([latents(which), points], dim=1)).clamp(-0.1, 0.1)
    loss = (predicted - truth).abs().mean() + 1e-4 * latents.weight.square().sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert latents.weight.grad is not None
