# expect: GT309
# cause: a leaf that gradients are asked for is written to before it is used
# wrong: raises MutationError
# cure: w[0] = 0.0 -> w = gt.at(w)[0].set(0.0)
import gradtape as gt

w = gt.tensor([1.0, 2.0, 3.0], requires_grad=True)
w[0] = 0.0  # <- here
loss = (w**2).sum()
loss.backward()
