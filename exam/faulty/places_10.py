# expect: GT308
# cause: the training function asks the tape that its caller has used already
# wrong: raises TapeError
# cure: return loss, tape.gradient(loss, p) -> return loss, grads
import gradtape as gt


def evaluate(p, tape, loss):
    grads = tape.gradient(loss, p)
    norm = sum(float((g * g).sum()) for g in grads)
    if norm > 1.0:
        return loss, tape.gradient(loss, p)  # <- here
    return loss, grads


p = [gt.Variable([1.0, 2.0]), gt.Variable(3.0)]
with gt.GradientTape() as tape:
    loss = (p[0] ** 2).sum() * p[1]
evaluate(p, tape, loss)
