# expect: GT308
# cause: the module keeps its memory between batches together with the graph that made it
# wrong: raises RuntimeError
# cure: self.memory = torch.tanh(self.update(torch.cat([x, self.memory], dim=1)))  # <- here -> self.memory = torch.tanh(self.update(torch.cat([x, self.memory.detach()], dim=1)))
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MemoryNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.update = nn.Linear(4 + 6, 6)
        self.out = nn.Linear(6, 1)
        self.memory = torch.zeros(8, 6)

    def forward(self, x):
        self.memory = torch.tanh(self.update(torch.cat([x, self.memory], dim=1)))  # <- here
        return self.out(self.memory)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(32, 4), torch.randn(32, 1)), batch_size=8)
net = MemoryNet()
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for inputs, target in loader:
    optimizer.zero_grad()
    loss = criterion(net(inputs), target)
    loss.backward()  # <- asked
    optimizer.step()
