# expect: GT509
# cause: the model ends in a softmax, and CrossEntropyLoss applies one again
# wrong: isinstance(model[-1], nn.Softmax)
# cure: nn.Linear(12, 4), nn.Softmax(dim=1) -> nn.Linear(12, 4)
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4), nn.Softmax(dim=1))  # <- here
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
data, labels = torch.randn(40, 6), torch.randint(0, 4, (40,))
for _ in range(3):
    opt.zero_grad()
    loss = criterion(model(data), labels)  # <- here
    loss.backward()
    opt.step()
