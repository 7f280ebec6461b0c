# expect: GT101
# cause: the squared distances to the two cluster ends are kept as a column for one end and as a vector for the other
# wrong: margin.shape == (18, 18)
# cure: far = torch.cdist(anchor, negative).diagonal() -> far = torch.cdist(anchor, negative).diagonal()[:, None]
import torch
import torch.nn as nn

torch.manual_seed(8)
tower = nn.Sequential(nn.Linear(10, 7), nn.Tanh(), nn.Linear(7, 4))
sgd = torch.optim.SGD(tower.parameters(), lr=1e-2, momentum=0.9)


def batches():
    for _ in range(3):
        base = torch.randn(18, 10)
        yield base, base + 0.05 * torch.randn_like(base), torch.randn(18, 10)


for triple in batches():
    anchor, positive, negative = map(tower, triple)
    near = (anchor - positive).square().sum(dim=1, keepdim=True)
    far = torch.cdist(anchor, negative).diagonal()
    margin = torch.relu(near - far + 0.5)  # <- here
    sgd.zero_grad(set_to_none=True)
    margin.mean().backward()
    sgd.step()
