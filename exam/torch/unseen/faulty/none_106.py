# expect: GT305 or GT210 or GT201 because GT210
# cause: the loss is turned into a number with item() and backward is called on the number
# wrong: raises AttributeError
# cure: criterion(model(x), y).item() -> criterion(model(x), y)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(16, 5), torch.randint(0, 3, (16,))
model = nn.Linear(5, 3)
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = criterion(model(x), y).item()  # <- here
    opt.zero_grad()
    loss.backward()  # <- here
    opt.step()
