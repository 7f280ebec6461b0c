# expect: GT513
# cause: the optimiser has the encoder only; the projection head, which is kept apart, gets gradients and stays as it was
# wrong: torch.equal(projection.weight, before)
# cure: torch.optim.SGD(encoder.parameters(), lr=0.1) -> torch.optim.SGD([*encoder.parameters(), *projection.parameters()], lr=0.1)
import torch
from torch import nn

torch.manual_seed(0)


def make_encoder(width):
    return nn.Sequential(nn.Linear(width, 16), nn.ReLU())


encoder = make_encoder(20)
projection = nn.Linear(16, 4)
before = projection.weight.detach().clone()
opt = torch.optim.SGD(encoder.parameters(), lr=0.1)  # <- here
goal = torch.randn(32, 4)
inputs = torch.randn(32, 20)
for step in range(4):
    out = projection(encoder(inputs))
    loss = nn.functional.mse_loss(out, goal)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
