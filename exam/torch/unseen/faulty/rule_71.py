# expect: GT320
# cause: the backward of the log-cosh loses the sign: it gives the absolute value of tanh
# wrong: not torch.autograd.gradcheck(LogCosh.apply, (torch.tensor([-1.0, 2.0], dtype=torch.double, requires_grad=True),), raise_exception=False)
# cure: torch.tanh(error).abs() -> torch.tanh(error)
import math

import torch


class LogCosh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, error):
        ctx.save_for_backward(error)
        return error.abs() + torch.nn.functional.softplus(-2 * error.abs()) - math.log(2.0)

    @staticmethod
    def backward(ctx, upstream):
        (error,) = ctx.saved_tensors
        return upstream * torch.tanh(error).abs()  # <- here


torch.manual_seed(0)
coefficients = torch.zeros(4, requires_grad=True)
X, y = torch.randn(30, 4), torch.randn(30)
opt = torch.optim.SGD([coefficients], lr=0.1)
for _ in range(4):
    loss = LogCosh.apply(X @ coefficients - y).mean()  # <- asked
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
