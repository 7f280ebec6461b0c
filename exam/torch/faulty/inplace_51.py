# expect: GT309
# cause: the step changes the weights in place between the two backward passes of one graph
# wrong: raises RuntimeError
# cure: optimizer.step()  # <- here\nloss_smooth.backward()  # <- asked -> loss_smooth.backward()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(14, 3), torch.randn(14, 3)

output = net(x)
loss_fit = (output - y).pow(2).mean()
loss_smooth = (output[1:] - output[:-1]).abs().mean()

optimizer.zero_grad()
loss_fit.backward(retain_graph=True)
optimizer.step()  # <- here
loss_smooth.backward()  # <- asked
optimizer.step()
