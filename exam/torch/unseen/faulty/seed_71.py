# expect: GT301
# cause: the vector of the Jacobian-vector product is that of the inputs, and the reverse mode wants one for the outputs
# wrong: raises RuntimeError
# cure: output.backward(gradient=direction) -> output.backward(gradient=torch.ones_like(output))
import torch

torch.manual_seed(0)
camera = torch.randn(4, 6)
point = torch.randn(6, requires_grad=True)
direction = torch.eye(6)[2]
output = torch.sin(camera @ point)
output.backward(gradient=direction)  # <- here
print(point.grad)
