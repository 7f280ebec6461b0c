import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
batches = {
    "train": [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(3)],
    "valid": [(torch.randn(8, 6), torch.randint(0, 3, (8,)))],
}
for epoch in range(2):
    for phase in ["train", "valid"]:
        total = 0.0
        for x, y in batches[phase]:
            with torch.set_grad_enabled(phase == "train"):
                loss = nn.functional.cross_entropy(model(x), y)
            if phase == "train":
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item()
assert model.weight.grad is not None
