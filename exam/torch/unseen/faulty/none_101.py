# expect: GT201 or GT305 because GT208
# cause: the gradient penalty is computed without create_graph, so that it is a constant and nothing is learned from it
# wrong: raises RuntimeError
# cure: create_graph=False -> create_graph=True
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(3):
    points = torch.randn(20, 4, requires_grad=True)
    slopes = torch.autograd.grad(critic(points).sum(), points, create_graph=False)[0]  # <- here
    penalty = ((slopes.norm(dim=1) - 1) ** 2).mean()
    opt.zero_grad()
    penalty.backward()  # <- asked
    opt.step()
