# expect: GT201 or GT512 or GT305 because GT206 or GT208
# cause: vector_to_parameters copies the generated weights into the network's parameters as data, so that the generator learns nothing
# wrong: torch.equal(start, generator.weight)
# cure: vector_to_parameters(generator(task), net.parameters())  # <- here\n    prediction = net(x) -> flat = generator(task)\n    weights = {"weight": flat[:3].reshape(1, 3), "bias": flat[3:]}\n    prediction = torch.func.functional_call(net, weights, (x,))
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
    vector_to_parameters(generator(task), net.parameters())  # <- here
    prediction = net(x)
    loss = nn.functional.mse_loss(prediction, y)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
