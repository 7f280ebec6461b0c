# expect: GT116 or GT111 or GT110
# cause: the GRU is given one-hot letters of 27 columns, and was made for 26
# wrong: raises RuntimeError
# cure: nn.GRU(26, 12, batch_first=True) -> nn.GRU(27, 12, batch_first=True)
import string

import torch
from torch import nn

ALPHABET = string.ascii_lowercase + "."


def one_hot(names):
    width = max(map(len, names))
    codes = [[ALPHABET.index(c) for c in name.ljust(width, ".")] for name in names]
    return nn.functional.one_hot(torch.tensor(codes), len(ALPHABET)).float()


torch.manual_seed(0)
reader = nn.GRU(26, 12, batch_first=True)  # <- here
judge = nn.Linear(12, 2)
opt = torch.optim.Adam([*reader.parameters(), *judge.parameters()], lr=0.01)
names, origin = ["ada", "grace", "edsger", "donald"], torch.tensor([0, 0, 1, 1])
for epoch in range(2):
    _, last = reader(one_hot(names))  # <- here
    loss = nn.functional.cross_entropy(judge(last[-1]), origin)
    opt.zero_grad()
    loss.backward()
    opt.step()
