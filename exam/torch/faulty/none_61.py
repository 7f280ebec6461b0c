# expect: GT201 or GT512 because GT208 or GT210
# cause: the loss is wrapped in a new Variable of its data, an idiom of old versions, and has no history
# wrong: all(p.grad is None for p in net.parameters())
# cure: Variable(loss.data, requires_grad=True)  # <- here -> loss
import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
x, y = torch.randn(22, 6), torch.randint(0, 2, (22,))

for epoch in range(4):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss = Variable(loss.data, requires_grad=True)  # <- here
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
    print(epoch, loss.item())
