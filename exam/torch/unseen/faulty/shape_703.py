# expect: GT116
# cause: the data set adds an axis for the batch to each image, and the loader adds another
# wrong: raises RuntimeError
# cure: self.images[i].unsqueeze(0) -> self.images[i]
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self, n):
        generator = torch.Generator().manual_seed(0)
        self.images = torch.rand(n, 1, 12, 12, generator=generator)
        self.labels = torch.randint(0, 10, (n,), generator=generator)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i].unsqueeze(0), self.labels[i]  # <- here


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 25, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv(x)), 2)  # <- here
        return self.fc(x.flatten(1))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for images, labels in DataLoader(Digits(24), batch_size=8):
    loss = nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
