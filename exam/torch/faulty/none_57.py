# expect: GT201 or GT512 because GT212
# cause: freeze() switches off every parameter whose name contains "e", the classifier included
# wrong: not any(p.requires_grad for p in net["classifier"].parameters())
# cure: if "e" in name -> if name.startswith("encoder")
import torch
from torch import nn


def freeze(net):
    for name, p in net.named_parameters():
        if "e" in name:
            p.requires_grad = False  # <- here


torch.manual_seed(0)
net = nn.ModuleDict({"encoder": nn.Linear(6, 8), "prompt": nn.Linear(6, 8), "classifier": nn.Linear(8, 3)})
freeze(net)
optimizer = torch.optim.Adam(net["classifier"].parameters(), lr=1e-2)
prompt_optimizer = torch.optim.Adam(net["prompt"].parameters(), lr=1e-2)
x, labels = torch.randn(15, 6), torch.randint(0, 3, (15,))
for epoch in range(3):
    optimizer.zero_grad()
    prompt_optimizer.zero_grad()
    h = torch.relu(net["encoder"](x) + net["prompt"](x))
    loss = nn.functional.cross_entropy(net["classifier"](h), labels)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
    prompt_optimizer.step()
