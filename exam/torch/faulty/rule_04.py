# expect: GT304
# cause: forward has two arguments besides ctx, and backward returns one gradient
# wrong: raises RuntimeError
# cure: return grad_output * inside  # <- here -> return grad_output * inside, None
import torch


class ClampSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.clamp(-limit, limit)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        inside = (x.abs() <= ctx.limit).to(grad_output.dtype)
        return grad_output * inside  # <- here


torch.manual_seed(0)
signal = torch.randn(10, requires_grad=True)
loss = ClampSTE.apply(signal, 0.8).sum()
loss.backward()  # <- asked
