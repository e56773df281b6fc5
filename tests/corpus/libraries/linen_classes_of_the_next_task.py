# cause: shape
# subject: params['head']...
# program: jit_train_step
# reason: the head gets a row for each class of the new task; the batches stay as they are

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Net(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(10, name="trunk")(x))
        return nn.Dense(self.classes, name="head")(x)


def wider(params, classes):
    head = params["head"]
    more = classes - head["bias"].shape[0]
    head = {"kernel": np.pad(np.asarray(head["kernel"]), ((0, 0), (0, more))),
            "bias": np.pad(np.asarray(head["bias"]), (0, more))}
    return dict(params, head=head)


class Learner:
    def __init__(self, key, x, classes):
        self.optimizer = optax.sgd(0.05, momentum=0.9)
        self.params = jax.jit(Net(classes).init)(key, x)["params"]
        self.start(classes)

    def start(self, classes):
        model = Net(classes)
        self.opt_state = self.optimizer.init(self.params)

        @jax.jit
        def train_step(params, opt_state, x, labels):
            def loss_fn(params):
                logits = model.apply({"params": params}, x)
                return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

            loss, grads = jax.value_and_grad(loss_fn)(params)
            updates, opt_state = self.optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss

        self.step = train_step

    def learn(self, x, labels, epochs=2):
        for _ in range(epochs):
            self.params, self.opt_state, loss = self.step(self.params, self.opt_state, x, labels)  # <- cause
        return float(loss)


rng = np.random.default_rng(0)
x = rng.normal(size=(8, 6)).astype(np.float32)
learner = Learner(jax.random.key(0), x, 2)
learner.learn(x, rng.integers(0, 2, 8).astype(np.int32))
learner.params = wider(learner.params, 5)
learner.start(5)
print(learner.learn(x, rng.integers(2, 5, 8).astype(np.int32)))
