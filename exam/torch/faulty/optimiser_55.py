# expect: GT512 or GT513
# cause: the optimiser was made for the copy that keeps the best weights, not for the model that is trained
# wrong: torch.equal(model.weight, initial)
# cure: torch.optim.AdamW(best_model.parameters(), lr=1e-2) -> torch.optim.AdamW(model.parameters(), lr=1e-2)
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(40, 6), torch.randint(0, 2, (40,)))
model = nn.Linear(6, 2)
best_model = copy.deepcopy(model)
initial = model.weight.detach().clone()
optimizer = torch.optim.AdamW(best_model.parameters(), lr=1e-2)  # <- here
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    for x, labels in DataLoader(data, batch_size=10):
        optimizer.zero_grad()
        loss = criterion(model(x), labels)
        loss.backward()  # <- asked
        optimizer.step()  # <- asked
