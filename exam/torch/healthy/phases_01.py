"""One loop for both phases with torch.set_grad_enabled, as in the transfer learning tutorial."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x = torch.randn(50, 4)
data = TensorDataset(x, (x.sum(dim=1) > 0).long())
train, val = random_split(data, [40, 10])
loaders = {"train": DataLoader(train, batch_size=10, shuffle=True), "val": DataLoader(val, batch_size=10)}

model = nn.Linear(4, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
for epoch in range(4):
    for phase in ("train", "val"):
        model.train(phase == "train")
        running_loss, running_corrects = 0.0, 0
        for inputs, labels in loaders[phase]:
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(inputs)
                _, preds = torch.max(outputs, 1)
                loss = criterion(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            running_loss += loss.item() * inputs.size(0)
            running_corrects += torch.sum(preds == labels.data)
        if phase == "train":
            scheduler.step()
assert running_corrects >= 6
