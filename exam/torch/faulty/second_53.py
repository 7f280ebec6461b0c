# expect: GT308
# cause: backward is called on the running total, which still contains the losses of earlier batches
# wrong: raises RuntimeError
# cure: total_loss.backward()  # <- asked -> loss.backward()
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 10), nn.ReLU(), nn.Linear(10, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
batches = [(torch.randn(5, 8), torch.randint(0, 3, (5,))) for _ in range(4)]

total_loss = 0.0
for x, labels in batches:
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), labels)
    total_loss = total_loss + loss  # <- here
    total_loss.backward()  # <- asked
    optimizer.step()
print("mean loss", float(total_loss) / len(batches))
