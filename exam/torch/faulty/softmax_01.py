# expect: GT501
# cause: softmax is taken over the batch, and the loss picks from the classes of each row
# wrong: not torch.allclose(probs.sum(dim=1), torch.ones(20))
# cure: F.softmax(model(x), dim=0) -> F.softmax(model(x), dim=1)
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(20, 6)
y = torch.randint(0, 4, (20,))
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    probs = F.softmax(model(x), dim=0)  # <- here
    loss = -torch.log(probs[torch.arange(20), y]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
