# expect: GT404 or GT503
# cause: the inputs are raw pixels up to 255 with large weights, the sigmoid is 0 or 1 and its derivative underflows to 0
# wrong: float(first.weight.grad.abs().max()) == 0.0
# cure: pixels = torch.randint(0, 256, (20, 16)).float() -> pixels = torch.randint(0, 256, (20, 16)).float() / 255
import torch
from torch import nn

torch.manual_seed(26)
pixels = torch.randint(0, 256, (20, 16)).float()  # <- here
labels = torch.randint(0, 3, (20,))
first = nn.Linear(16, 12)
nn.init.normal_(first.weight, std=1.0)
nn.init.constant_(first.weight[:, :1].data, 1.0)
first.weight.data = first.weight.data.abs()
second = nn.Linear(12, 3)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(4):
    hidden = torch.sigmoid(first(pixels))  # <- here
    loss = nn.functional.cross_entropy(second(hidden), labels)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
