"""A denoising step: schedules are looked up for each example and reshaped to broadcast over the image."""

import torch
from torch import nn

torch.manual_seed(0)
alpha_bar = torch.cumprod(1 - torch.linspace(1e-4, 0.2, 20), dim=0)
net = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, 1, 3, padding=1))
average = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    x0 = torch.randn(8, 1, 8, 8)
    t = torch.randint(0, 20, (8,))
    a = alpha_bar[t].view(-1, 1, 1, 1)
    noise = torch.randn_like(x0)
    xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
    guess = net(torch.cat([xt, (t / 20).view(-1, 1, 1, 1).expand_as(xt)], dim=1))
    loss = nn.functional.mse_loss(guess, noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    average.update_parameters(net)
assert loss.item() < 5
