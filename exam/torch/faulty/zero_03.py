# expect: GT404 or GT503
# cause: the inputs are raw pixel sums in the thousands, so that the sigmoid is saturated at exactly 1
# wrong: not model[0].weight.grad.any()
# cure: x = torch.randint(0, 256, (32, 16)).float() -> x = torch.randint(0, 256, (32, 16)).float() / 255 - 0.5
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randint(0, 256, (32, 16)).float()  # <- here
y = torch.rand(32, 1)

model = nn.Sequential(nn.Linear(16, 8), nn.Sigmoid(), nn.Linear(8, 1))
nn.init.constant_(model[0].weight, 0.5)
model[0].weight.data += 0.1 * torch.randn(8, 16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(4):
    optimizer.zero_grad()
    prediction = model(x)  # <- here
    loss = nn.functional.mse_loss(prediction, y)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
