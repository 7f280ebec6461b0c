import torch
from torch import nn
from torch.nn.utils import vector_to_parameters

torch.manual_seed(0)
generator = nn.Linear(5, 4)
net = nn.Linear(3, 1)
start = generator.weight.detach().clone()
opt = torch.optim.Adam(generator.parameters(), lr=1e-2)
for _ in range(4):
    task, x, y = torch.randn(5), torch.randn(16, 3), torch.randn(16, 1)
    flat = generator(task)
    weights = {"weight": flat[:3].reshape(1, 3), "bias": flat[3:]}
    prediction = torch.func.functional_call(net, weights, (x,))
    loss = nn.functional.mse_loss(prediction, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert not torch.equal(start, generator.weight)
