# expect: GT512 or GT513
# cause: the optimiser has clones of the parameters, which are never part of the model
# wrong: torch.equal(model.weight, before)
# cure: [p.detach().clone().requires_grad_() for p in model.parameters()] -> list(model.parameters())
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
before = model.weight.detach().clone()
weights = [p.detach().clone().requires_grad_() for p in model.parameters()]  # <- here
opt = torch.optim.Adam(weights, lr=0.01)  # <- here
x, y = torch.randn(10, 4), torch.randn(10, 2)
for _ in range(4):
    loss = torch.nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
