# expect: GT320
# cause: the backward pass forgets grad_output, so the chain rule stops there
# wrong: not torch.autograd.gradcheck(lambda t: 3 * swish(t), torch.randn(5, dtype=torch.double, requires_grad=True), raise_exception=False)
# cure: return s + x * s * (1 - s)  # <- here -> return grad_output * (s + x * s * (1 - s))
import torch
from torch import nn


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, grad_output):
        x, s = ctx.saved_tensors
        return s + x * s * (1 - s)  # <- here


swish = Swish.apply


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(5, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.fc2(swish(self.fc1(x)))  # <- asked


torch.manual_seed(0)
net = Net()
x, y = torch.randn(30, 5), torch.randn(30, 1)
loss = nn.functional.mse_loss(net(x), y)
loss.backward()  # <- asked
