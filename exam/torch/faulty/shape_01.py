# expect: GT111
# cause: after pooling the image is 6 channels of 12 x 12, not 14 x 14
# wrong: raises RuntimeError
# cure: 6 * 14 * 14 -> 6 * 12 * 12
import torch
import torch.nn.functional as F
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5)
        self.fc1 = nn.Linear(6 * 14 * 14, 32)  # <- here
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))  # <- here
        return self.fc2(x)


torch.manual_seed(0)
images = torch.randn(4, 1, 28, 28)
labels = torch.randint(0, 10, (4,))
net = ConvNet()
loss = F.cross_entropy(net(images), labels)
loss.backward()
