"""Function transforms: functions in, functions out.

`gradients` has grad, value_and_grad, vjp, jvp and linearize; `jacobians` jacobian, jacfwd, jacrev, hessian and hvp;
`vmap` the batching transform; `custom` user-defined rules and checkpointing; `implicit` derivatives of solutions;
`sparse` sparse Jacobians and Hessians by colouring.
"""
