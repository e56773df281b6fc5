# cause: arguments
# subject: boxes[2]
# old: absent
# new: f32[4]
# advice: list lengths
# reason: each picture brings a list of as many boxes as it has objects

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

model = nn.Dense(4)
picture = np.ones((1, 6), np.float32)
params = jax.jit(model.init)(jax.random.key(0), picture)


@jax.jit
def loss(params, picture, boxes):
    predicted = model.apply(params, picture)[0]
    return sum(jnp.abs(predicted - box).sum() for box in boxes)


def validate(pictures):
    for picture, boxes in pictures:
        loss(params, picture, boxes)  # <- cause


box = np.zeros(4, np.float32)
validate([(picture, [box, box]), (picture, [box, box]), (picture, [box, box, box])])  # <- call
