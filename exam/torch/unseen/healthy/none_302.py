import torch

torch.manual_seed(0)


def forward(weights, x):
    return torch.tanh(x @ weights["w"]) @ weights["v"]


theta = {"w": torch.randn(1, 12, requires_grad=True), "v": torch.randn(12, 1, requires_grad=True)}
start = theta["w"].detach().clone()
meta = torch.optim.Adam(theta.values(), lr=1e-2)
for episode in range(4):
    amplitude = 1 + torch.rand(())
    x_support, x_query = torch.randn(10, 1), torch.randn(10, 1)
    loss = (forward(theta, x_support) - amplitude * x_support.sin()).square().mean()
    gradients = torch.autograd.grad(loss, list(theta.values()), create_graph=True)
    fast = {name: p - 0.1 * g for (name, p), g in zip(theta.items(), gradients)}
    outer = (forward(fast, x_query) - amplitude * x_query.sin()).square().mean()
    meta.zero_grad()
    outer.backward()
    meta.step()
assert not torch.equal(start, theta["w"])
