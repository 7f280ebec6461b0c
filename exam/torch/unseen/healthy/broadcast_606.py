import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spirals(Dataset):
    def __init__(self, count=80):
        self.x = torch.randn(count, 2)
        self.y = (self.x[:, :1] * self.x[:, 1:] > 0).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        labels = self.y[i].squeeze(-1)
        return self.x[i], labels


torch.manual_seed(0)
loader = DataLoader(Spirals(), batch_size=20)
net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
correct = 0.0
for x, y in loader:
    logits = net(x)
    loss = F.cross_entropy(logits, y.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    hits = logits.argmax(dim=1) == y
    correct += hits.float().mean().item()
assert not (hits.dim() == 2)
