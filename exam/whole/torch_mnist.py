"""The loop of the MNIST tutorials: a small CNN, a DataLoader, training and test."""

import torch
import torch.nn.functional as F
from measure import Steps
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
from torch_measure import finish


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.fc1 = nn.Linear(16 * 5 * 5, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout1(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, loader, optimiser, epoch):
    model.train()
    for index, (data, target) in enumerate(loader):
        with steps:
            optimiser.zero_grad()
            output = model(data)
            loss = F.nll_loss(output, target)
            loss.backward()
            optimiser.step()
        if index == 0:
            print(f"epoch {epoch} [{index}/{len(loader)}] loss {loss.item():.6f}")


def test(model, loader):
    model.eval()
    loss = correct = 0
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    print(f"test loss {loss / len(loader.dataset):.6f}, {correct} of {len(loader.dataset)}")


steps = Steps()
torch.manual_seed(1)
labels = torch.randint(0, 10, (512,))
images = 0.3 * torch.randn(512, 1, 14, 14)
images[torch.arange(512), 0, labels, :] += 1.0
training, held_out = random_split(TensorDataset(images, labels), [448, 64])
model = Net()
optimiser = torch.optim.Adadelta(model.parameters(), lr=1.0)
schedule = torch.optim.lr_scheduler.StepLR(optimiser, step_size=1, gamma=0.9)
for epoch in range(16):
    train(model, DataLoader(training, batch_size=16, shuffle=True), optimiser, epoch)
    test(model, DataLoader(held_out, batch_size=64))
    schedule.step()
finish(steps, model)
