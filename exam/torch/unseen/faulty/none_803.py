# expect: GT201 or GT305 because GT208 or GT211 or GT203
# cause: the gradients that are matched were taken without create_graph, so that they have no graph back to the images
# wrong: raises RuntimeError
# cure: torch.autograd.grad(criterion(net(x), y), net.parameters()) -> torch.autograd.grad(criterion(net(x), y), net.parameters(), create_graph=True)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
images = torch.randn(6, 12, requires_grad=True)
labels = torch.tensor([0, 0, 1, 1, 2, 2])
optimizer = torch.optim.SGD([images], lr=0.1)


def gradients(x, y):
    return torch.autograd.grad(criterion(net(x), y), net.parameters())  # <- here


for step in range(3):
    real, targets = torch.randn(30, 12), torch.randint(0, 3, (30,))
    wanted = [g.detach() for g in gradients(real, targets)]
    loss = sum((a - b).square().sum() for a, b in zip(gradients(images, labels), wanted))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
