# expect: GT201 or GT202 because GT202
# cause: the auxiliary head takes no part in the inner loss, and the gradients of all parameters are asked for
# wrong: raises RuntimeError
# cure: torch.autograd.grad(inner, learner.parameters()) -> torch.autograd.grad(inner, [*learner.body.parameters(), *learner.main.parameters()])
import torch
from torch import nn


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 8)
        self.main = nn.Linear(8, 2)
        self.auxiliary = nn.Linear(8, 4)

    def forward(self, x, auxiliary=False):
        h = torch.relu(self.body(x))
        return self.auxiliary(h) if auxiliary else self.main(h)


torch.manual_seed(0)
learner = Learner()
x, y = torch.randn(15, 5), torch.randint(0, 2, (15,))
inner = nn.functional.cross_entropy(learner(x), y)  # <- here
gradients = torch.autograd.grad(inner, learner.parameters())  # <- here
norm = sum(g.square().sum() for g in gradients).sqrt()
