# expect: GT509
# cause: the model ends in Softmax and CrossEntropyLoss applies log_softmax again
# wrong: "Softmax" in str(model)
# cure: , nn.Softmax(dim=-1)) -> )
import torch
from torch import nn


def make_model(classes):
    body = nn.Sequential(nn.Conv1d(1, 6, 5), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten())
    return nn.Sequential(body, nn.Linear(6, classes), nn.Softmax(dim=-1))  # <- here


torch.manual_seed(52)
model = make_model(3)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0]))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
waves, labels = torch.randn(15, 1, 20), torch.randint(0, 3, (15,))
for _ in range(3):
    loss = criterion(model(waves), labels)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
