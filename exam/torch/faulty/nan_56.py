# expect: GT401
# cause: a batch without positive examples: the mean over none of them is 0 / 0
# wrong: not all(torch.isfinite(p).all() for p in net.parameters())
# cure: positive.sum() -> positive.sum().clamp(min=1)
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def balanced_loss(logits, labels):
    losses = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    positive = labels == 1
    on_positive = (losses * positive).sum() / positive.sum()  # <- here
    on_negative = (losses * ~positive).sum() / (~positive).sum()
    return on_positive + on_negative


torch.manual_seed(0)
labels = torch.zeros(40)
labels[[2, 5, 11, 15, 33]] = 1
loader = DataLoader(TensorDataset(torch.randn(40, 5), labels), batch_size=10)
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = balanced_loss(net(x).squeeze(1), y)
    loss.backward()  # <- asked
    optimizer.step()
