# expect: GT307
# cause: the loss has an element for each example, and backward wants one number
# wrong: raises RuntimeError
# cure: loss.backward()  # <- here -> loss.mean().backward()
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
criterion = nn.CrossEntropyLoss(reduction="none")  # <- here
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(11, 3), torch.randint(0, 2, (11,))
for epoch in range(3):
    optimizer.zero_grad()
    loss = criterion(model(x), y)  # <- here
    loss.backward()  # <- here
    optimizer.step()
