# expect: GT101
# cause: the losses of the examples (N,) are multiplied with weights (N, 1), which pairs every loss with every weight
# wrong: weighted.dim() == 2
# cure: weighted = per_example * weights -> weighted = per_example * weights.squeeze(1)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data(count=96):
    x = torch.randn(count, 10)
    y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
    importance = torch.rand(count, 1) + 0.5
    return TensorDataset(x, y, importance)


torch.manual_seed(1)
loader = DataLoader(make_data(), batch_size=24, shuffle=True)
classifier = nn.Sequential(nn.Linear(10, 16), nn.GELU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss(reduction="none")
optimizer = torch.optim.AdamW(classifier.parameters(), lr=1e-2)

for epoch in range(2):
    for x, y, weights in loader:
        optimizer.zero_grad()
        per_example = criterion(classifier(x), y)
        weighted = per_example * weights  # <- here
        weighted.mean().backward()
        optimizer.step()
