"""NAM52 in JAX, written from its definition and not from examples/nam52: a recurrence in the place of chunks,
a dispatch tensor in the place of slots, plain softmax in the place of the forms of attention.

Everything is f32. `p` are all weights by their names, `b` is a micro-batch.
"""

import math

import jax
import jax.numpy as jnp
import numpy

TINY = {
    "vocabulary": 320, "width": 128, "blocks": 8, "heads": 4, "groups": 2, "head": 32, "sparse": {1}, "index_heads": 4,
    "index_width": 16, "keys": 32, "near": 8, "experts": 8, "top": 2, "expert_width": 64, "shared_width": 64,
    "capacity": 160, "inner": 256, "mamba_head": 32, "state": 16, "mamba_groups": 2, "hash_heads": 4, "hash_width": 8,
    "first_prime": 1009, "mtp_width": 256, "rate": 2e-3, "warmup": 5, "end": 30,
}
PAD = 261


# ---- first values --------------------------------------------------------------------------------


def fmix32(h):
    h = numpy.atleast_1d(numpy.asarray(h, "uint32"))
    h = (h ^ h >> numpy.uint32(16)) * numpy.uint32(0x85EBCA6B)
    h = (h ^ h >> numpy.uint32(13)) * numpy.uint32(0xC2B2AE35)
    return h ^ h >> numpy.uint32(16)


def uniform(name, shape, seed=0):
    start = 0x811C9DC5  # FNV-1a
    for byte in name.encode():
        start = (start ^ byte) * 0x01000193 & 0xFFFFFFFF
    with numpy.errstate(over="ignore"):
        start = fmix32((start + seed * 0x9E3779B9) & 0xFFFFFFFF)
        place = numpy.arange(math.prod(shape), dtype="uint32")
        h = fmix32(place * numpy.uint32(0x9E3779B1) + start)
    return ((h >> numpy.uint32(8)).astype("float32") * numpy.float32(2.0**-24)).reshape(shape)


def primes_of(c):
    """Of each Engram block: 2 orders times heads."""
    found, number = [], c["first_prime"]
    while len(found) < c["blocks"] // 4 * 2 * c["hash_heads"]:
        if all(number % i for i in range(2, int(number**0.5) + 1)):
            found.append(number)
        number += 1
    count = 2 * c["hash_heads"]
    return [found[i : i + count] for i in range(0, len(found), count)]


def first_values(c, mtp):
    p, d, out = {}, c["width"], 0.5 / math.sqrt(2 * c["blocks"])

    def random(name, shape, deviation):
        p[name] = (2 * uniform(name, shape) - 1) * numpy.float32(math.sqrt(3) * deviation)

    def maps(prefix, *some):
        for name, rows, columns, share in some:
            random(prefix + name, (rows, columns), share / math.sqrt(rows))

    def attention(n):
        maps(n, ("wqkv", d, (c["heads"] + 2 * c["groups"]) * c["head"], 1), ("wo", c["heads"] * c["head"], d, out))

    random("emb.tok", (c["vocabulary"], d), 1)
    for name, rows in (("struct", 9), ("dep", 16), ("fim", 4)):
        random(f"emb.{name}", (rows, d), 0.1)
    random("head.w", (d, c["vocabulary"]), 0.02)
    for block in range(c["blocks"]):
        n = f"L{block:02}.{'AEMG'[block % 4]}."
        if block % 4 == 0:
            attention(n)
            if block // 4 in c["sparse"]:
                maps(n, ("ix.wq", d, c["index_heads"] * c["index_width"], 1), ("ix.wk", d, c["index_width"], 1),
                     ("ix.ww", d, c["index_heads"], 1))
        elif block % 4 == 1:
            E, w, s = c["experts"], c["expert_width"], c["shared_width"]
            maps(n, ("wr", d, E, 1), ("sg", d, s, 1), ("su", d, s, 1), ("sd", s, d, out))
            random(n + "wg", (E, d, w), 1 / math.sqrt(d))
            random(n + "wu", (E, d, w), 1 / math.sqrt(d))
            random(n + "wd", (E, w, d), out / math.sqrt(w))
        elif block % 4 == 2:
            heads, channels = c["inner"] // c["mamba_head"], c["inner"] + 2 * c["mamba_groups"] * c["state"]
            maps(n, ("win", d, c["inner"] + channels + heads, 1), ("wout", c["inner"], d, out))
            random(n + "conv", (channels, 4), 1 / math.sqrt(12))
            p[n + "convb"] = numpy.zeros(channels, "float32")
            p[n + "alog"] = numpy.log1p(15 * uniform(n + "alog", (heads,)))
            dt = numpy.exp(math.log(1e-3) + uniform(n + "dtb", (heads,)) * math.log(100)).astype("float32")
            p[n + "dtb"] = dt + numpy.log(-numpy.expm1(-dt))
            p[n + "D"], p[n + "nw"] = numpy.ones(heads, "float32"), numpy.ones(c["inner"], "float32")
        else:
            rows, width = -(-sum(primes_of(c)[block // 4]) // 64) * 64, 2 * c["hash_heads"] * c["hash_width"]
            random(n + "tab", (rows, c["hash_width"]), 1)
            maps(n, ("wk", width, d, 1), ("wv", width, d, out))
            for name in ("nk", "nq", "nc"):
                p[n + name] = numpy.ones(d, "float32")
            p[n + "conv"] = numpy.zeros((d, 4), "float32")
    for depth in range(1, mtp + 1):
        n = f"mtp{depth}."
        attention(n)
        maps(n, ("proj", 2 * d, d, 1), ("g", d, c["mtp_width"], 1), ("u", d, c["mtp_width"], 1), ("dn", c["mtp_width"], d, out))
    return {name: numpy.asarray(value, "float32") for name, value in p.items()}


# ---- blocks --------------------------------------------------------------------------------------


def rms(x, weight=None):
    x = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
    return x if weight is None else x * weight


def masks_of(b):
    T, doc, count = b["tokens"].shape[1], b["doc_ids"], b["valid_token_count"]
    count = jnp.where(count < 0, (doc >= 0).sum(1), count)
    t = jnp.arange(T)
    valid = t[None] < count[:, None]
    doc = jnp.where(valid, doc, -1)
    allow = (t[:, None] >= t[None]) & (doc[:, :, None] == doc[:, None, :]) & valid[:, None, :] | (t[:, None] == t[None])
    return {"valid": valid, "doc": doc, "allow": allow, "count": jnp.maximum(valid.sum(), 1).astype("float32")}


def rope(x):
    """[B, T, ..., h]"""
    h = x.shape[-1]
    angle = jnp.arange(x.shape[1], dtype="float32")[:, None] * jnp.float32(10000) ** (-jnp.arange(0, h, 2, dtype="float32") / h)
    angle = angle.reshape(1, x.shape[1], *[1] * (x.ndim - 3), h // 2)
    a, b = x[..., : h // 2], x[..., h // 2 :]
    return jnp.concatenate([a * jnp.cos(angle) + b * jnp.sin(angle), b * jnp.cos(angle) - a * jnp.sin(angle)], -1)


def ranks(scores):
    return jnp.argsort(jnp.argsort(-scores, -1, stable=True), -1, stable=True)


def attention(c, p, n, x, m, is_sparse):
    B, T, _ = x.shape
    g, r, h = c["groups"], c["heads"] // c["groups"], c["head"]
    qkv = (x @ p[n + "wqkv"]).reshape(B, T, g, r + 2, h)
    q, k, v = rms(rope(qkv[:, :, :, :r])), rms(rope(qkv[:, :, :, r])), qkv[:, :, :, r + 1]
    scores = 30 * jnp.tanh(jnp.einsum("btgrh,bsgh->bgrts", q, k) / math.sqrt(h) / 30)
    keep, loss = m["allow"], 0.0
    if is_sparse:
        z, J, e = jax.lax.stop_gradient(x), c["index_heads"], c["index_width"]
        qi, ki = rope((z @ p[n + "ix.wq"]).reshape(B, T, J, e)), rope(rms(z @ p[n + "ix.wk"])[:, :, None])[:, :, 0]
        w = z @ p[n + "ix.ww"] / math.sqrt(J * e)
        index = jnp.einsum("btj,btjs->bts", w, jnp.maximum(jnp.einsum("btje,bse->btjs", qi, ki), 0))
        ago = jnp.arange(T)[:, None] - jnp.arange(T)[None]
        order = jnp.where((ago >= 0) & (ago < c["near"]), 1e30, jax.lax.stop_gradient(index))
        keep = keep & (ranks(jnp.where(m["allow"], order, -1e30)) < c["keys"])
    prob = jax.nn.softmax(jnp.where(keep[:, None, None], scores, -1e30), -1)
    if is_sparse:
        target = jax.lax.stop_gradient(prob.mean((1, 2)))
        said = jax.nn.log_softmax(jnp.where(keep, index, -1e30), -1)
        each = jnp.where(keep, target * (jnp.log(target + 1e-10) - said), 0).sum(-1)
        loss = (each * m["valid"]).sum() / m["count"]
    return jnp.einsum("bgrts,bsgh->btgrh", prob, v).reshape(B, T, -1) @ p[n + "wo"], loss


def swiglu(x, gate, up, down):
    return (jax.nn.silu(x @ gate) * (x @ up)) @ down


def experts(c, p, n, x, m, bias):
    """Also the balance and z losses, the load of each expert, and how many were dropped."""
    shape, E = x.shape, c["experts"]
    x, valid = x.reshape(-1, shape[-1]), m["valid"].reshape(-1)
    g = x @ p[n + "wr"]
    s = jax.nn.sigmoid(g)
    chosen = ((ranks(jax.lax.stop_gradient(s) + bias) < c["top"]) & valid[:, None]).astype("float32")
    gate = 2.5 * s * chosen / jnp.maximum((s * chosen).sum(1, keepdims=True), 1e-9)
    slot = (jnp.cumsum(chosen, 0) - 1) * chosen  # of each choice, in the order of the tokens
    has = chosen * (slot < c["capacity"])
    send = jax.nn.one_hot(slot.astype("int32"), c["capacity"]) * has[..., None]  # [N, E, C]
    taken = jnp.einsum("nec,nd->ecd", send, x)
    given = swiglu(taken, p[n + "wg"], p[n + "wu"], p[n + "wd"])
    y = jnp.einsum("nec,ecd,ne->nd", send, given, gate) + swiglu(x, p[n + "sg"], p[n + "su"], p[n + "sd"])
    load = chosen.sum(0)
    share = ((s / s.sum(1, keepdims=True)) * valid[:, None]).sum(0) / m["count"]
    balance = E * (load / (m["count"] * c["top"]) * share).sum()
    z = (jax.nn.logsumexp(g, -1) ** 2 * valid).sum() / m["count"]
    return y.reshape(shape), balance, z, load, jnp.maximum(load - c["capacity"], 0).sum()


def back(x, by, fill):
    """The value `by` positions before."""
    return jnp.concatenate([jnp.full_like(x[:, :by], fill), x[:, : x.shape[1] - by]], 1) if by else x


def convolution(x, w, doc, dilation):
    taps = [jnp.where((back(doc, j * dilation, -2) == doc)[..., None], back(x, j * dilation, 0), 0) * w[:, 3 - j] for j in range(4)]
    return sum(taps[1:], taps[0])


def mamba(c, p, n, x, m):
    B, T, _ = x.shape
    inner, G, S, P = c["inner"], c["mamba_groups"], c["state"], c["mamba_head"]
    H = inner // P
    z, xbc, dt = jnp.split(x @ p[n + "win"], [inner, 2 * inner + 2 * G * S], -1)
    xbc = jax.nn.silu(convolution(xbc, p[n + "conv"], m["doc"], 1) + p[n + "convb"])
    X = xbc[..., :inner].reshape(B, T, H, P)
    b, C = (jnp.repeat(part.reshape(B, T, G, S), H // G, 2) for part in jnp.split(xbc[..., inner:], 2, -1))
    dt = jax.nn.softplus(dt + p[n + "dtb"])
    stays = (back(m["doc"], 1, -2) == m["doc"]).astype("float32")
    decay = stays[..., None] * jnp.exp(-jnp.exp(p[n + "alog"]) * dt)

    def step(h, now):
        decay, dt, b, C, X = now
        h = decay[..., None, None] * h + (dt[..., None] * b)[..., None] * X[..., None, :]
        return h, jnp.einsum("bhs,bhsp->bhp", C, h)

    first = jnp.zeros((B, H, S, P), "float32")
    _, y = jax.lax.scan(step, first, [jnp.swapaxes(part, 0, 1) for part in (decay, dt, b, C, X)])
    y = jnp.swapaxes(y, 0, 1) + p[n + "D"][:, None] * X
    y = rms((y.reshape(B, T, inner) * jax.nn.silu(z)).reshape(B, T, G, inner // G)).reshape(B, T, inner)
    return (y * p[n + "nw"]) @ p[n + "wout"]


def engram(c, p, n, x, m, tokens, rank):
    ids = jnp.where((tokens >= 65) & (tokens <= 90), tokens + 32, tokens)
    ids = jnp.where((tokens == 9) | (tokens == 10) | (tokens == 13), 32, ids)
    rows, offset, primes = [], 0, iter(primes_of(c)[rank])
    for order in (2, 3):
        mix = jnp.zeros_like(ids, "uint32")
        for j in range(order):
            factor = int(fmix32(j + 10007 * (rank + 1))[0]) | 1
            there = jnp.where(back(m["doc"], j, -2) == m["doc"], back(ids, j, PAD), PAD).astype("uint32")
            mix = mix ^ (there * jnp.uint32(factor))
        for _ in range(c["hash_heads"]):
            prime = next(primes)
            rows.append((mix % jnp.uint32(prime)).astype("int32") + offset)
            offset += prime
    e = p[n + "tab"][jnp.stack(rows, -1)].reshape(*tokens.shape, -1)
    u = (rms(e @ p[n + "wk"], p[n + "nk"]) * rms(x, p[n + "nq"])).sum(-1, keepdims=True) / math.sqrt(c["width"])
    gate = jax.nn.sigmoid(jnp.sign(u) * jnp.sqrt(jnp.maximum(jnp.abs(u), 1e-6)))
    v = gate * (e @ p[n + "wv"])
    return v + jax.nn.silu(convolution(rms(v, p[n + "nc"]), p[n + "conv"], m["doc"], 3))


# ---- the whole -----------------------------------------------------------------------------------


def roles(bounds, T):
    t, role = jnp.arange(T)[None], 0
    for f in range(bounds.shape[1]):
        for k in range(3):
            role = role + (k + 1) * ((t >= bounds[:, f, k, None]) & (t < bounds[:, f, k + 1, None]))
    return role


def beginning(p, b):
    def row(name, ids):
        return jnp.where((ids != 0)[..., None], p[name][ids], 0)

    return rms(p["emb.tok"][b["tokens"]] + row("emb.struct", b["structure_ids"]) + row("emb.dep", b["dep_levels"])
               + row("emb.fim", roles(b["fim_bounds"], b["tokens"].shape[1])))


def cross_entropy(p, x, targets, weights):
    logits = 15 * jnp.tanh(rms(x) @ p["head.w"] / 15)
    nats = -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1)[..., 0]
    return (nats * weights).sum() / jnp.maximum(weights.sum(), 1)


def rolled(x, by):
    return jnp.concatenate([x[:, by:], jnp.zeros_like(x[:, :by])], 1)


def loss_of(c, mtp, p, b, biases):
    """The whole loss of a micro-batch; (that of the next token, loads, dropped)."""
    m, x = masks_of(b), beginning(p, b)
    balance = z = index = 0.0
    loads, dropped = [], []
    for block in range(c["blocks"]):
        n, rank = f"L{block:02}.{'AEMG'[block % 4]}.", block // 4
        if block % 4 == 0:
            y, loss = attention(c, p, n, rms(x), m, rank in c["sparse"])
            index = index + loss
        elif block % 4 == 1:
            y, more, of_z, load, over = experts(c, p, n, rms(x), m, biases[rank])
            balance, z = balance + more, z + of_z
            loads.append(load)
            dropped.append(over)
        elif block % 4 == 2:
            y = mamba(c, p, n, rms(x), m)
        else:
            y = engram(c, p, n, x, m, b["tokens"], rank)
        x = x + y
    weights = b["loss_mask"] * b["aux_mask"] * m["valid"]
    next_token = cross_entropy(p, x, b["targets"], weights)
    further = 0.0
    for depth in range(1, mtp + 1):
        n = f"mtp{depth}."
        token = p["emb.tok"][rolled(b["targets"], depth - 1)]
        x = jnp.concatenate([rms(x), rms(token)], -1) @ p[n + "proj"]
        x = x + attention(c, p, n, rms(x), m, False)[0]
        x = x + swiglu(rms(x), p[n + "g"], p[n + "u"], p[n + "dn"])
        same = rolled(m["doc"], depth) == m["doc"]
        further = further + cross_entropy(p, x, rolled(b["targets"], depth), rolled(weights, depth) * same) / mtp
    experts_count = c["blocks"] // 4
    loss = next_token + 0.3 * further + 1e-4 * balance / experts_count + 1e-3 * z / experts_count
    return loss + index / max(len(c["sparse"]), 1), (next_token, loads, dropped)


def decays(name, shape):
    return len(shape) >= 2 and not name.startswith("emb.") and not name.endswith((".tab", ".conv"))


def step(c, mtp, p, batch, biases):
    """Step 1 of AdamW from zero moments over the micro-batches of `batch`: the loss, that of the next token, the
    weights, the biases, what was dropped, the clipped gradients."""
    count = batch["tokens"].shape[0]
    loss = next_token = 0.0
    gradients = {name: jnp.zeros_like(value) for name, value in p.items()}
    loads, dropped = [0.0] * len(biases), [0.0] * len(biases)
    for micro in range(count):
        b = {name: value[micro] for name, value in batch.items()}
        (own, (own_next, own_loads, own_dropped)), g = jax.value_and_grad(lambda p: loss_of(c, mtp, p, b, biases), has_aux=True)(p)
        loss, next_token = loss + own / count, next_token + own_next / count
        gradients = {name: gradients[name] + g[name] / count for name in p}
        loads = [x + y for x, y in zip(loads, own_loads)]
        dropped = [x + y for x, y in zip(dropped, own_dropped)]
    norm = jnp.sqrt(sum((g * g).sum() for g in gradients.values()))
    share, rate, after = jnp.minimum(1, 1 / (norm + 1e-6)), c["rate"] / c["warmup"], {}
    for name, x in p.items():
        g = gradients[name] * share
        update = g / (jnp.sqrt(g * g) + 1e-8)  # both moments are of one gradient
        own = rate * (5 if name.endswith(".tab") else 1)
        after[name] = x - own * (update + (0.1 * x if decays(name, x.shape) else 0))
    biases = [bias + 1e-3 * jnp.sign(load.mean() - load) for bias, load in zip(biases, loads)]
    clipped = {name: g * share for name, g in gradients.items()}
    return loss, next_token, after, biases, dropped, clipped
