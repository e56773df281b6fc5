# cause: arguments
# subject: labels[3]
# new: absent
# advice: list lengths | same keys
# reason: the labels are a list of Python numbers, each an argument of its own; the last batch has three

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

FEATURES = np.linspace(0, 1, 44, dtype=np.float32).reshape(11, 4)
LABELS = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]


@nnx.jit
def accuracy(model, codebook, labels):
    logits = model(codebook)
    wanted = jnp.stack(labels)
    return jnp.mean(jnp.argmax(logits.mean(0)) == wanted)


model = nnx.jit(lambda rngs: nnx.Linear(4, 3, rngs=rngs))(nnx.Rngs(0))
results = []
for start in range(0, len(LABELS), 4):
    results.append(float(accuracy(model, FEATURES, LABELS[start:start + 4])))  # <- cause
print(results)
