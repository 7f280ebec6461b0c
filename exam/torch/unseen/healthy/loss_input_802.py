import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.fc1 = nn.Linear(6 * 9, 20)
        self.fc2 = nn.Linear(20, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


torch.manual_seed(0)
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for epoch in range(3):
    images, labels = torch.rand(12, 1, 8, 8), torch.randint(0, 10, (12,))
    optimizer.zero_grad()
    out = net(images)
    loss = criterion(out, labels)
    loss.backward()
    optimizer.step()
assert out.min() < 0
