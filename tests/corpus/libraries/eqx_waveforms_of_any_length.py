# cause: shape
# subject: waves
# old: f32[3,1,64]
# new: f32[3,1,40]
# reason: the validation set has shorter recordings; the strided convolutions and the pooling follow

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Classifier(eqx.Module):
    layers: list
    norm: eqx.nn.GroupNorm
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.layers = [eqx.nn.Conv1d(1, 4, 5, stride=2, padding=2, key=keys[0]),
                       eqx.nn.Conv1d(4, 8, 3, stride=2, padding=1, key=keys[1])]
        self.norm = eqx.nn.GroupNorm(2, 8)
        self.head = eqx.nn.Linear(8, 3, key=keys[2])

    def __call__(self, wave):
        x = wave
        for layer in self.layers:
            x = jax.nn.relu(layer(x))
        return self.head(self.norm(x).mean(axis=-1))


@eqx.filter_jit
def metrics(model, waves, labels):
    logits = jax.vmap(model)(waves)
    chosen = jax.nn.log_softmax(logits)[jnp.arange(len(labels)), labels]
    return -chosen.mean(), (logits.argmax(-1) == labels).mean()


model = eqx.filter_jit(Classifier)(jax.random.key(0))
labels = np.array([0, 1, 2])
for samples in (64, 64, 40):
    loss, accuracy = metrics(model, np.ones((3, 1, samples), np.float32), labels)  # <- cause
