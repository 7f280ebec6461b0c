# expect: GT404 or GT509 or GT503 or GT501
# cause: softmax over the one output of a binary classifier is always 1, whatever the weights are
# wrong: not model.weight.grad.any()
# cure: torch.softmax(model(x), dim=1) -> torch.sigmoid(model(x))
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(50, 5)
y = (x[:, :1] > 0).float()
model = nn.Linear(5, 1)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(4):
    probability = torch.softmax(model(x), dim=1)  # <- here
    loss = nn.functional.mse_loss(probability, y)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
