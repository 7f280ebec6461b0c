# expect: GT201 because GT208
# cause: the latent code is drawn with sample(), which is not differentiable, instead of rsample()
# wrong: encoder.weight.grad is None
# cure: .sample() -> .rsample()
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
x = torch.randn(30, 6)
encoder = nn.Linear(6, 4)
decoder = nn.Linear(2, 6)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for _ in range(3):
    mean, log_scale = encoder(x).chunk(2, dim=1)
    code = Normal(mean, log_scale.exp()).sample()  # <- here
    loss = (decoder(code) - x).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
