# cause: arguments
# subject: kept[0]
# old: absent
# new: f32[4,9]
# advice: stop its gradient
# reason: the first matrix moves from what is trained to what is kept; the others are the same arrays

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(trained, kept, x):
    def loss(trained):
        for matrix in [*kept, *trained]:
            x_next = jnp.tanh(x_list[-1] @ matrix)
            x_list.append(x_next)
        return x_list[-1].sum()

    x_list = [x]
    return jax.grad(loss)(trained)


matrices = [np.full(shape, 0.5, np.float32) for shape in ((4, 9), (9, 6), (6, 2))]
x = np.ones((3, 4), np.float32)
for frozen in (0, 0, 1):
    step(matrices[frozen:], matrices[:frozen], x)  # <- cause
