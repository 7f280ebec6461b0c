# expect: GT309
# cause: dropout by hand: the activations that the softplus of the next line has saved are zeroed in place afterwards
# wrong: raises RuntimeError
# cure: h.mul_(keep) -> h = h * keep
import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(6, 10), nn.Linear(10, 1)
opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.05)
data, target = torch.randn(40, 6), torch.randn(40, 1)
for epoch in range(2):
    h = first(data).exp()  # <- here
    keep = (torch.rand_like(h) > 0.3).float()
    h.mul_(keep)  # <- here
    loss = nn.functional.mse_loss(second(h), target)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
