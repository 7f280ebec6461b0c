"""Optimisers that step within backward, accumulated gradients, and all optimisers on one problem."""

import torch
from torch import nn

model = nn.Linear(2, 1)
with torch.no_grad():
    model.weight.fill_(1.0)
    model.bias.zero_()
optimizer_dict = {p: torch.optim.SGD([p], lr=0.1) for p in model.parameters()}


def optimizer_hook(parameter) -> None:
    optimizer_dict[parameter].step()
    optimizer_dict[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(optimizer_hook)
model(torch.tensor([[1.0, 2.0]])).sum().backward()
print(model.weight, model.bias, model.weight.grad)
# accumulate
m = nn.Linear(1, 1, bias=False)
nn.init.ones_(m.weight)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
data = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
acc = 2
for i, x in enumerate(data):
    loss = (m(x) - 1).pow(2).sum() / acc
    loss.backward()
    if (i + 1) % acc == 0:
        print(m.weight.grad)
        opt.step()
        opt.zero_grad()
print(m.weight)


def closure():
    opt2.zero_grad()
    loss = ((m.weight - 3) ** 2).sum()
    loss.backward()
    return loss


opt2 = torch.optim.LBFGS(m.parameters(), lr=1)
print(opt2.step(closure))
print(m.weight)
w = torch.tensor([1.0, 2.0], requires_grad=True)
for name, o in [
    ("SGD", torch.optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.01)),
    ("Adam", torch.optim.Adam([w], lr=0.1)),
    ("AdamW", torch.optim.AdamW([w], lr=0.1)),
    ("RMSprop", torch.optim.RMSprop([w], lr=0.1)),
    ("Adagrad", torch.optim.Adagrad([w], lr=0.1)),
    ("Adadelta", torch.optim.Adadelta([w])),
    ("Adamax", torch.optim.Adamax([w])),
    ("NAdam", torch.optim.NAdam([w])),
    ("Rp", torch.optim.SGD([w], lr=0.1, nesterov=True, momentum=0.5)),
]:
    w.data = torch.tensor([1.0, 2.0])
    for _ in range(3):
        o.zero_grad()
        (w**2).sum().backward()
        o.step()
    print(name, w.data)
sd = torch.optim.Adam([w], lr=0.1)
(w**2).sum().backward()
sd.step()
print(sorted(sd.state_dict()["state"][0]), sd.state_dict()["state"][0]["step"])
s2 = torch.optim.Adam([w], lr=0.5)
s2.load_state_dict(sd.state_dict())
print(s2.param_groups[0]["lr"])
sd.step()
a = w.detach().clone()
print(a.shape)
sched = torch.optim.lr_scheduler.StepLR(sd, 1, 0.5)
sched.step()
print(sched.get_last_lr(), sched.last_epoch)
print(torch.optim.lr_scheduler.ReduceLROnPlateau(sd, "min").__class__.__name__)
for g in sd.param_groups:
    print(g["lr"], len(g["params"]))
