import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = torch.flatten(self.features(x), 1)
        x = torch.relu(self.fc1(x))
        return self.fc2(x)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.rand(12, 1, 16, 16), torch.randint(0, 10, (12,))), batch_size=6)
model = Digits()
optimizer = torch.optim.Adam(model.parameters())
for images, labels in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
assert loss.isfinite()
