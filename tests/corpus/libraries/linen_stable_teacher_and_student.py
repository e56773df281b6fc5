# cause: stable
# reason: two models of two sizes, each jitted once by its own apply, and a step for the student

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Net(nn.Module):
    width: int
    depth: int

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(3)(x)


rng = np.random.default_rng(0)
teacher, student = Net(16, 2), Net(4, 1)
teach, answer = jax.jit(teacher.apply), jax.jit(student.apply)
x = rng.normal(size=(6, 5)).astype(np.float32)
teacher_params = teacher.init(jax.random.key(0), x)
params = student.init(jax.random.key(1), x)
optimizer = optax.adam(1e-3)
opt_state = optimizer.init(params)


@jax.jit
def distil(params, opt_state, x, targets):
    def loss_fn(params):
        return optax.softmax_cross_entropy(student.apply(params, x), jax.nn.softmax(targets)).mean()

    updates, opt_state = optimizer.update(jax.grad(loss_fn)(params), opt_state)
    return optax.apply_updates(params, updates), opt_state


for _ in range(3):
    x = rng.normal(size=(6, 5)).astype(np.float32)
    targets = teach(teacher_params, x)
    params, opt_state = distil(params, opt_state, x, targets)
    agreement = jnp.mean(answer(params, x).argmax(-1) == targets.argmax(-1))
print(float(agreement))
