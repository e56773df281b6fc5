# cause: gradient
# subject: state['grad']
# old: accumulate
# new: create

import jax
import jax.numpy as jnp
import numpy as np


class Trainer:
    def __init__(self):
        self.w = np.ones((4, 2), np.float32)
        self.compiled = jax.jit(self.step)

    def step(self, w, x, state):
        grad = jax.grad(lambda w: jnp.sum(jnp.sin(x @ w)))(w)
        if "grad" in state:
            grad = state["grad"] + grad  # <- cause
        return {"grad": grad}

    def micro_step(self, state):
        return self.compiled(self.w, np.ones((8, 4), np.float32), state)  # <- call


trainer = Trainer()
trainer.micro_step({"grad": np.zeros((4, 2), np.float32)})
trainer.micro_step({})
