# expect: GT201 because GT202
# cause: the penalty was computed from the old parameters, and its gradient is asked for the new ones
# wrong: raises UntrackedError
# cure: (before**2).sum() -> (after**2).sum()
import gradtape as gt

before = gt.tensor([1.0, 2.0], requires_grad=True)
after = gt.tensor([0.5, 0.5], requires_grad=True)
penalty = (before**2).sum()  # <- here
(g,) = gt.gradients([penalty], [after])  # <- here
