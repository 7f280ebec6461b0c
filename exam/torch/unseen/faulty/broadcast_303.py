# expect: GT101
# cause: the accuracy compares a column of predicted labels with a vector of labels, every one with every other
# wrong: not 0 <= correct <= 30
# cure: (predicted == labels).sum() -> (predicted[:, 0] == labels).sum()
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 1)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(30, 5)
labels = (x[:, 0] > 0).float()
for _ in range(3):
    logits = model(x)
    loss = nn.functional.binary_cross_entropy_with_logits(logits[:, 0], labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    predicted = (torch.sigmoid(model(x)) > 0.5).float()
    correct = (predicted == labels).sum().item()  # <- here
