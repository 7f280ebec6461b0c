import torch
from torch import nn

torch.manual_seed(0)
model = nn.Bilinear(4, 5, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
before = model.weight.detach().clone()


def loss_of(left, right, label):
    return nn.functional.cross_entropy(model(left, right), label)


for epoch in range(4):
    left, right = torch.randn(10, 4), torch.randn(10, 5)
    loss = loss_of(left, right, torch.randint(0, 3, (10,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
assert not (torch.equal(before, model.weight))
