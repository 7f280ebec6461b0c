import torch
from torch import nn

torch.manual_seed(0)
backbone, head = nn.Linear(8, 8), nn.Linear(8, 3)
model = nn.Sequential(backbone, nn.ReLU(), head)
backbone.requires_grad_(False)
start = backbone.weight.detach().clone()
opt = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2)
x, y = torch.randn(30, 8), torch.randint(0, 3, (30,))
for epoch in range(6):
    if epoch == 2:
        backbone.requires_grad_(True)
        opt.add_param_group({"params": list(backbone.parameters())})
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert not torch.equal(start, backbone.weight)
