"""A compiled model and a compiled loss: by the compiler's eager and aot_eager backends, and by inductor."""

import torch
from measure import Steps
from torch import nn
from torch_measure import finish

torch.manual_seed(0)
x, y = torch.randn(64, 16), torch.randn(64, 1)
steps = Steps()
models = []
for backend in ("eager", "aot_eager", "inductor"):
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))
    compiled = torch.compile(model, backend=backend)
    scaled = torch.compile(lambda a, b: 0.5 * ((a - b) ** 2).mean(), backend=backend)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(15):
        with steps:
            optimiser.zero_grad()
            loss = scaled(compiled(x), y)
            loss.backward()
            optimiser.step()
    models.append(model)
    print(f"{backend}: loss {loss.item():.6f}")
finish(steps, *models)
