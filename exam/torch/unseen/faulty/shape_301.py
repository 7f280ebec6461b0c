# expect: GT118 or GT110 or GT111
# cause: squeeze() without an axis also drops the batch axis when the last batch has one example
# wrong: raises RuntimeError
# cure: return self.head(self.conv(x).mean(dim=3)).squeeze()  # <- here -> return self.head(self.conv(x).mean(dim=3)).squeeze(2)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 5, 3)
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        return self.head(self.conv(x).mean(dim=3)).squeeze()  # <- here


torch.manual_seed(0)
net = Net()
images, labels = torch.rand(9, 1, 8, 8), torch.randint(0, 5, (9,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in zip(images.split(4), labels.split(4)):
    loss = nn.functional.cross_entropy(net(x), y)  # <- asked
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
