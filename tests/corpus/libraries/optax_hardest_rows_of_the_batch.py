# cause: size
# old: 6
# new: 3
# reason: the share of the rows with the highest losses is a Python number; what is kept of the batch is that share

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


@dataclasses.dataclass(frozen=True)
class Mining:
    share: float = 0.75

    def hardest(self, losses):
        count = int(self.share * losses.shape[0])
        return jax.lax.top_k(losses, count)[0]  # <- cause


def make_step(mining):
    @jax.jit
    def step(params, opt_state, x, labels):
        def loss_fn(params):
            losses = optax.softmax_cross_entropy_with_integer_labels(x @ params, labels)
            return jnp.sum(mining.hardest(losses))

        grads = jax.grad(loss_fn)(params)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    return step


x, labels = np.ones((8, 4), np.float32), np.arange(8, dtype=np.int32) % 3
params = np.zeros((4, 3), np.float32)
opt_state = optimizer.init(params)
for mining in (Mining(), Mining(share=0.375)):
    step = make_step(mining)
    for _ in range(2):
        params, opt_state = step(params, opt_state, x, labels)  # <- call
