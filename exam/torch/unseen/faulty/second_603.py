# expect: GT308
# cause: two losses share the same forward pass, and the backward of the first one frees it
# wrong: raises RuntimeError
# cure: losses["reconstruction"].backward()\n    losses["divergence"].backward() -> sum(losses.values()).backward()
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, wide=9, narrow=2):
        super().__init__()
        self.enter = nn.Linear(wide, 2 * narrow)
        self.leave = nn.Linear(narrow, wide)

    def forward(self, x):
        mean, log_variance = self.enter(x).tanh().chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return {
            "reconstruction": F.mse_loss(self.leave(z), x),
            "divergence": -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).mean(),
        }


torch.manual_seed(0)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
for step in range(3):
    losses = vae(torch.randn(14, 9))
    optimizer.zero_grad()
    losses["reconstruction"].backward()
    losses["divergence"].backward()  # <- here
    optimizer.step()
