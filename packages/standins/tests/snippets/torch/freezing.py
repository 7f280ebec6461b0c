"""Freezing parameters, replacing layers, and containers of modules."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
for name, param in model.named_parameters():
    if name.startswith("0."):
        param.requires_grad = False
print([(n, p.requires_grad) for n, p in model.named_parameters()])
opt = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-3)
before = model[0].weight.clone()
loss = model(torch.ones(3, 4)).pow(2).mean()
loss.backward()
opt.step()
print(model[0].weight.grad, torch.equal(before, model[0].weight))
model[2] = nn.Linear(8, 5)
model.add_module("extra", nn.Softmax(dim=1))
print(model)
print(len(model), list(model.state_dict().keys()))
model.eval()
print(model.training, model[1].training)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
        self.d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(2, 1)})
        self.register_buffer("scale", torch.ones(1))
        self.p = nn.ParameterList([nn.Parameter(torch.zeros(2))])

    def forward(self, x):
        for f in self.features:
            x = self.d["a"](f(x))
        return self.d["b"](x + self.p[0]) * self.scale


net = Net()
print(net)
print(net(torch.ones(1, 2)).shape)
print([n for n, _ in net.named_modules()])
print([n for n, _ in net.named_children()], [n for n, _ in net.named_buffers()])
net2 = Net()
print(net2.load_state_dict(net.state_dict()))
try:
    net2.load_state_dict({"x": torch.ones(1)})
except RuntimeError:
    print("RuntimeError")
print(net2.load_state_dict({"scale": torch.zeros(1)}, strict=False).missing_keys[:2])


def init_weights(m):
    if isinstance(m, nn.Linear):
        torch.nn.init.xavier_uniform_(m.weight)
        m.bias.data.fill_(0.01)


net.apply(init_weights)
print(net.features[0].bias)
net.half().float()
net.to(torch.float64)
print(net.features[0].weight.dtype, net.scale.dtype)
net.requires_grad_(False)
print(any(p.requires_grad for p in net.parameters()))
print(sum(p.numel() for p in net.parameters()))
del net.d["a"]
print(net.get_submodule("d.b"), hasattr(net, "nope"))
try:
    print(net.nope)
except AttributeError as e:
    print(e)
