# expect: GT201 or GT305 because GT208
# cause: gradients are switched off for the validation and never on again
# wrong: raises RuntimeError
# cure: torch.set_grad_enabled(False)  # <- here\n -> \n
# cure: return criterion(model(x_val), y_val).item() -> with torch.no_grad():\n        return criterion(model(x_val), y_val).item()
import functools

import torch
from torch import nn

torch.manual_seed(18)
x_train, y_train = torch.randn(30, 4), torch.randn(30, 1)
x_val, y_val = torch.randn(10, 4), torch.randn(10, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 1))
criterion = functools.partial(nn.functional.huber_loss, delta=0.5)
optimizer = torch.optim.Adam(model.parameters())


def validate():
    torch.set_grad_enabled(False)  # <- here
    model.eval()
    return criterion(model(x_val), y_val).item()


for epoch in range(3):
    model.train()
    loss = criterion(model(x_train), y_train)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
    print(epoch, loss.item(), validate())
