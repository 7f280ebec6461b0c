# expect: GT201 or GT204 or GT305 because GT204 or GT203 or GT212
# cause: the latent is told to require a gradient after the image has been rendered from it
# wrong: raises RuntimeError
# cure: latent = torch.zeros(1, 5) -> latent = torch.zeros(1, 5).requires_grad_()
# cure: latent.requires_grad_(True) -> pass
import torch

torch.manual_seed(0)
renderer = torch.nn.Sequential(torch.nn.Linear(5, 32), torch.nn.ELU(), torch.nn.Linear(32, 49))
for weight in renderer.parameters():
    weight.requires_grad = False
photo = torch.rand(1, 49)
latent = torch.zeros(1, 5)
image = renderer(latent)
latent.requires_grad_(True)  # <- here
distance = torch.nn.functional.l1_loss(image, photo)
distance.backward()  # <- asked
print(latent.grad)
