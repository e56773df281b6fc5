# cause: arguments
# subject: optimizer.opt_state...
# old: absent
# new: i32[]
# reason: a schedule counts its steps, so the optimizer's state has one number more; the schedule's own operations follow

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


@nnx.jit
def train_step(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean(model(x) ** 2))(model)
    optimizer.update(model, grads)
    return loss


x = np.ones((3, 4), np.float32)
model = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
for rate in (0.1, optax.cosine_decay_schedule(0.1, 10)):
    optimizer = nnx.Optimizer(model, optax.sgd(rate), wrt=nnx.Param)
    for _ in range(2):
        train_step(model, optimizer, x)  # <- cause
