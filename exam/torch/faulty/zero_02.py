# expect: GT404 or GT209 or GT201
# cause: the predictions are rounded in the loss, and round has a derivative of zero
# wrong: not model.weight.grad.any()
# cure: torch.round(model(x)) -> model(x)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(50, 2)
stars = (4 * x.mean(dim=1, keepdim=True)).round() + 1

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(5):
    predicted = torch.round(model(x))  # <- here
    loss = nn.functional.l1_loss(predicted, stars)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
    print(epoch, loss.item())
