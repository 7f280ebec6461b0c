# expect: GT205 or GT206 or GT513
# cause: the averages are assigned into the dictionary that state_dict() returns, which leaves the averaged model as it was
# wrong: torch.equal(average[0].weight, begin)
# cure: average.state_dict()[name] = decay * average.state_dict()[name] + (1 - decay) * value -> average.state_dict()[name].lerp_(value, 1 - decay)
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 2))
average = copy.deepcopy(model).requires_grad_(False)
begin = average[0].weight.clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def update_average(decay=0.9):
    for name, value in model.state_dict().items():
        average.state_dict()[name] = decay * average.state_dict()[name] + (1 - decay) * value  # <- here


for step in range(5):
    x = torch.randn(20, 4)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > x[:, 1]).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_average()
