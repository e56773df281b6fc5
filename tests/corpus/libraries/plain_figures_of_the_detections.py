# cause: shape
# pattern: eager
# and
# cause: shape
# pattern: eager
# and
# cause: shape
# pattern: eager
# and
# cause: shape
# pattern: eager
# reason: the kept boxes of each picture are measured outside jit, and their number varies

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def detect(params, picture):
    features = jnp.tanh(picture.reshape(-1, 12) @ params["features"])
    boxes = jax.nn.sigmoid(features @ params["boxes"])
    scores = jax.nn.sigmoid(features @ params["scores"])
    return boxes, scores


def spread(boxes, keep):
    kept = boxes[keep]
    centres = (kept[:, :2] + kept[:, 2:]) / 2
    return float(jnp.linalg.norm(jnp.asarray(centres) - 0.5, axis=1).mean())  # <- cause, cause 2, cause 3, cause 4


def evaluate(params, pictures):
    spreads = []
    for picture in pictures:
        boxes, scores = jax.device_get(detect(params, picture))
        spreads.append(spread(boxes, scores > 0.5))
    return np.mean(spreads)


rng = np.random.default_rng(4)
params = {"features": rng.normal(size=(12, 16)).astype(np.float32), "boxes": rng.normal(size=(16, 4)).astype(np.float32),
          "scores": rng.normal(size=16).astype(np.float32)}
print(evaluate(params, rng.normal(size=(8, 20, 12)).astype(np.float32)))
