# expect: GT320
# cause: forward divides by the temperature, backward multiplies by it
# wrong: not torch.autograd.gradcheck(lambda t: Cool.apply(t, 2.0), torch.randn(3, dtype=torch.double, requires_grad=True), raise_exception=False)
# cure: grad_output * ctx.temperature, None -> grad_output / ctx.temperature, None
import torch
from torch import nn


class Cool(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, temperature):
        ctx.temperature = temperature
        return logits / temperature

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.temperature, None  # <- here


torch.manual_seed(0)
model = nn.Linear(6, 3)
x, labels = torch.randn(21, 6), torch.randint(0, 3, (21,))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(Cool.apply(model(x), 2.0), labels)  # <- asked
    loss.backward()  # <- asked
    optimizer.step()
