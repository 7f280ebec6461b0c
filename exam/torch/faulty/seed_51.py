# expect: GT301
# cause: the network's output is a column (15, 1), grad_outputs a vector (15,)
# wrong: raises RuntimeError
# cure: grad_outputs=torch.ones(15) -> grad_outputs=torch.ones(15, 1)
import torch
from torch import nn

torch.manual_seed(0)
u_net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(u_net.parameters(), lr=1e-3)


def residual(t):
    u = u_net(t)
    du = torch.autograd.grad(u, t, grad_outputs=torch.ones(15), create_graph=True)[0]  # <- here
    return du + 2 * u


t = torch.linspace(0, 1, 15).unsqueeze(1).requires_grad_()
for step in range(2):
    loss = residual(t).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
