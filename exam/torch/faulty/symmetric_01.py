# expect: GT514
# cause: all weights start at the same constant, so that the hidden units stay copies of each other
# wrong: torch.allclose(model[0].weight[0], model[0].weight[1])
# cure: nn.init.constant_(m.weight, 0.1) -> nn.init.xavier_uniform_(m.weight)
import torch
from torch import nn


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.1)  # <- here
        nn.init.zeros_(m.bias)


torch.manual_seed(0)
x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])

model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
model.apply(init_weights)  # <- here
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(20):
    optimizer.zero_grad()
    loss = criterion(model(x), y)  # <- asked
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
