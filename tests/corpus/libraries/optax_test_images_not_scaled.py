# cause: dtype
# subject: images
# old: f32[4,6,6]
# new: u8[4,6,6]
# advice: convert
# reason: the augmentation of the training set makes floats; the test set comes as it is stored

import jax
import jax.numpy as jnp
import numpy as np
import optax


def stored(seed, count):
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, size=(count, 6, 6), dtype=np.uint8)
    return images, rng.integers(0, 3, size=count).astype(np.int32)


def augmented(images, rng):
    flipped = np.where(rng.random(len(images))[:, None, None] < 0.5, images[:, :, ::-1], images)
    return flipped.astype(np.float32) + rng.normal(size=images.shape).astype(np.float32)


def logits_of(params, images):
    x = images.reshape(len(images), -1) / 255.0
    return jax.nn.relu(x @ params["hidden"]) @ params["out"]


def loss_of(params, images, labels):
    logits = logits_of(params, images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@jax.jit
def evaluate(params, images, labels):
    return (logits_of(params, images).argmax(-1) == labels).mean()


optimizer = optax.sgd(0.05)


@jax.jit
def train_step(params, opt_state, images, labels):
    grads = jax.grad(loss_of)(params, images, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def accuracy(params, images, labels):
    hits = [evaluate(params, images[i:i + 4], labels[i:i + 4]) for i in (0, 4)]  # <- cause
    return float(np.mean([float(hit) for hit in hits]))


rng = np.random.default_rng(0)
params = {"hidden": rng.normal(size=(36, 8)).astype(np.float32),
          "out": rng.normal(size=(8, 3)).astype(np.float32)}
opt_state = optimizer.init(params)
images, labels = stored(1, 8)
test_images, test_labels = stored(2, 8)
for epoch in range(2):
    seen = augmented(images, rng)
    for i in (0, 4):
        params, opt_state = train_step(params, opt_state, seen[i:i + 4], labels[i:i + 4])
    print("train", accuracy(params, seen, labels))
print("test", accuracy(params, test_images, test_labels))
