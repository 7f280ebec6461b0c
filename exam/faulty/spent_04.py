# expect: GT308
# cause: backward is called twice on the same loss, for a generator's and for a shared part's step
# wrong: raises TapeError
# cure: loss.backward(inputs=[shared]) -> loss.backward(inputs=[shared], retain_graph=True)
import gradtape as gt

shared = gt.tensor([1.0, 2.0], requires_grad=True)
head = gt.tensor([0.5, 0.5], requires_grad=True)
loss = (gt.exp(shared) * head).sum()
loss.backward(inputs=[shared])
loss.backward(inputs=[head])  # <- here
