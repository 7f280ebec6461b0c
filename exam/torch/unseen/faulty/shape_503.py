# expect: GT113 or GT110
# cause: the time embedding (16, 1) is concatenated along dim 0 to samples of width 6
# wrong: raises RuntimeError
# cure: torch.cat([noisy, t]) -> torch.cat([noisy, t], dim=1)
import torch
from torch import nn

torch.manual_seed(37)
denoiser = nn.Sequential(nn.Linear(7, 16), nn.SiLU(), nn.Linear(16, 6))
optimizer = torch.optim.Adam(denoiser.parameters(), lr=1e-3)


def diffusion_loss(samples):
    t = torch.rand(len(samples), 1)
    noise = torch.randn_like(samples)
    noisy = (1 - t) * samples + t * noise
    predicted = denoiser(torch.cat([noisy, t]))  # <- here
    return nn.functional.mse_loss(predicted, noise)


for _ in range(3):
    loss = diffusion_loss(torch.randn(16, 6))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
