# cause: arguments
# program: jit_train_step
# reason: the last phase has another optimizer, and a state of another form with it

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


def loss_fn(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.use(optax.adam(1e-3))

    def use(self, optimizer):
        self.opt_state = optimizer.init(eqx.filter(self.model, eqx.is_array))

        @eqx.filter_jit
        def train_step(model, opt_state, x, y):
            loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y)
            updates, opt_state = optimizer.update(grads, opt_state, model)
            return eqx.apply_updates(model, updates), opt_state, loss

        self.train_step = train_step

    def epoch(self, batches):
        for x, y in batches:
            self.model, self.opt_state, loss = self.train_step(self.model, self.opt_state, x, y)  # <- cause
        return float(loss)


rng = np.random.default_rng(0)
batches = [(rng.normal(size=(6, 4)).astype(np.float32), np.zeros((6, 2), np.float32))
           for _ in range(3)]
make = eqx.filter_jit(lambda key: eqx.nn.MLP(4, 2, 8, 1, key=key))
trainer = Trainer(make(jax.random.key(0)))
print("adam", trainer.epoch(batches), trainer.epoch(batches))
trainer.use(optax.sgd(1e-3, momentum=0.9))
print("momentum", trainer.epoch(batches), trainer.epoch(batches))
