# expect: GT509 or GT118 or GT314
# cause: the labels are floats because they were put into one array with the features
# wrong: raises RuntimeError
# cure: batch[:, -1]  # <- here -> batch[:, -1].long()
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
table = torch.cat([torch.randn(30, 5), torch.randint(0, 4, (30, 1)).float()], dim=1)
model = nn.Linear(5, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in DataLoader(table, batch_size=10):
    features, labels = batch[:, :-1], batch[:, -1]  # <- here
    optimizer.zero_grad()
    loss = F.cross_entropy(model(features), labels)  # <- here
    loss.backward()
    optimizer.step()
