# expect: GT404 or GT209 or GT201 or GT208
# cause: torch.normal draws from the means without a derivative by them; the reparametrised mean + std * noise is needed
# wrong: not encoder.weight.grad.any()
# cure: torch.normal(mean, log_std.exp())  # <- here -> mean + log_std.exp() * torch.randn_like(mean)
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(10, 6), nn.Linear(3, 10)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
x = torch.randn(20, 10)
for _ in range(3):
    mean, log_std = encoder(x).chunk(2, dim=1)
    z = torch.normal(mean, log_std.exp())  # <- here
    loss = (decoder(z) - x).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
