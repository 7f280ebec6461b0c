# expect: GT201 or GT202 because GT202
# cause: the second derivative is asked by x, but the network is linear in x, so that its slope does not depend on x
# wrong: raises RuntimeError
# cure: nn.Linear(1, 16), nn.Linear(16, 1) -> nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Linear(16, 1))  # <- here
x = torch.linspace(0, 1, 30)[:, None].requires_grad_()
u = net(x)
u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]  # <- here
u_xx = torch.autograd.grad(u_x.sum(), x, create_graph=True)[0]  # <- here
loss = (u_xx + torch.sin(x)).square().mean()
loss.backward()
