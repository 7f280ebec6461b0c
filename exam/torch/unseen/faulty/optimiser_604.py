# expect: GT512 or GT513 or GT314
# cause: the generator of parameters was used up by counting them, so that the optimiser is given none
# wrong: raises ValueError
# cure: trainable = (p for p in model.parameters() if p.requires_grad) -> trainable = [p for p in model.parameters() if p.requires_grad]
import torch
from torch import nn


def build():
    model = nn.Sequential(nn.Linear(9, 18), nn.LeakyReLU(), nn.Linear(18, 2))
    for parameter in model[0].parameters():
        parameter.requires_grad_(False)
    return model


def configure(model, rate):
    trainable = (p for p in model.parameters() if p.requires_grad)  # <- here
    count = sum(p.numel() for p in trainable)  # <- here
    print(f"{count} trainable parameters")
    return torch.optim.SGD(trainable, lr=rate)  # <- here


torch.manual_seed(0)
model = build()
optimizer = configure(model, 0.1)
for step in range(3):
    x = torch.randn(8, 9)
    loss = nn.functional.cross_entropy(model(x), torch.randint(0, 2, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
