# expect: GT302
# cause: the gradient of the vector is summed to one number
# wrong: raises RuntimeError
# cure: (grad_output * weight).sum(), -> grad_output * weight,
import torch


class WeightedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return (x * weight).sum()

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return (grad_output * weight).sum(), grad_output * x  # <- here


torch.manual_seed(0)
x = torch.randn(8, requires_grad=True)
weight = torch.rand(8, requires_grad=True)
loss = WeightedSum.apply(x, weight) ** 2
loss.backward()  # <- asked
print(x.grad, weight.grad)
