# expect: GT512 or GT513 or GT314
# cause: parameters is named and not called, so that the optimiser is given a method
# wrong: raises TypeError
# cure: torch.optim.AdamW(model.parameters, lr=1e-3) -> torch.optim.AdamW(model.parameters(), lr=1e-3)
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
opt = torch.optim.AdamW(model.parameters, lr=1e-3)  # <- here
loss = model(torch.randn(8, 4)).square().mean()
loss.backward()
opt.step()
