# expect: GT201 or GT305 because GT208
# cause: the Hessian is computed without create_graph, so that it is a constant for the network
# wrong: raises RuntimeError
# cure: hessian(density, point)  # <- here -> hessian(density, point, create_graph=True)
import torch
from torch import nn
from torch.autograd.functional import hessian

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def density(point):
    return net(point).squeeze()


for _ in range(3):
    point = torch.randn(2)
    curvature = hessian(density, point)  # <- here
    loss = (curvature.trace() - 1.0) ** 2
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
