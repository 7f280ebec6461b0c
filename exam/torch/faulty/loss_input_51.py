# expect: GT509
# cause: binary_cross_entropy takes probabilities and is given logits
# wrong: raises RuntimeError
# cure: F.binary_cross_entropy(model(x), y) -> F.binary_cross_entropy_with_logits(model(x), y)
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(30, 5)
y = (x.sum(dim=1, keepdim=True) > 0).float()
model = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    optimizer.zero_grad()
    loss = F.binary_cross_entropy(model(x), y)  # <- here
    loss.backward()
    optimizer.step()
