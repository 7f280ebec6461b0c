# expect: GT201 or GT305 because GT212
# cause: all parameters are frozen, the new head as well, because the loop stands after its replacement
# wrong: raises RuntimeError
# cure: for param in backbone.parameters() -> for param in backbone[0].parameters()
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 100))
backbone[2] = nn.Linear(16, 2)  # two classes instead of a hundred
for param in backbone.parameters():  # <- here
    param.requires_grad = False  # <- here

criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(backbone[2].parameters(), lr=0.01)
inputs, labels = torch.randn(10, 12), torch.randint(0, 2, (10,))
for epoch in range(2):
    optimizer.zero_grad()
    loss = criterion(backbone(inputs), labels)
    loss.backward()  # <- asked
    optimizer.step()
