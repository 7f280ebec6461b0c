# expect: GT514
# cause: xavier was commented out and the two matrices of the network are filled with 0.5
# wrong: torch.allclose(W["in"][:, 0], W["in"][:, 3])
# cure: torch.full((5, 6), 0.5) -> torch.randn(5, 6) * 0.5
import torch

torch.manual_seed(0)
W = {"in": torch.full((5, 6), 0.5), "out": torch.full((6, 2), 0.5)}  # <- here
for w in W.values():
    w.requires_grad_()
x = torch.randn(40, 5)
y = torch.stack([x[:, 0] * x[:, 1], x[:, 2].abs()], dim=1)
for epoch in range(8):
    hidden = torch.tanh(torch.mm(x, W["in"]))  # <- asked
    loss = torch.nn.functional.mse_loss(hidden.mm(W["out"]), y)
    grads = torch.autograd.grad(loss, list(W.values()))  # <- asked
    with torch.no_grad():
        for w, g in zip(W.values(), grads):
            w -= 0.05 * g
