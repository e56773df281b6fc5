"""SPMD over four devices: what is divided, and how; the numbers are those of one device."""

import torch

from common import DEVICE, STEPS, WHERE, data, made, mlp, numbers, step, sync, train, whole

functional = torch.nn.functional
if WHERE == "spmd":
    import torch_xla.distributed.spmd as spmd
    import torch_xla.runtime


def divided(tensor, shape, names, spec):
    """The tensor, divided as `spec` says over a mesh of that shape; as it is on the CPU."""
    if WHERE == "spmd":
        mesh = spmd.Mesh(list(range(4)), shape, names)
        spmd.mark_sharding(tensor, mesh, spec)
    return tensor


def by_rows(tensor):
    return divided(tensor, (4,), ("data",), ("data",) + (None,) * (tensor.dim() - 1))


def on_a_square(tensor, *spec):
    return divided(tensor, (2, 2), ("data", "model"), spec)


def devices():
    count = torch_xla.runtime.global_runtime_device_count() if WHERE == "spmd" else 4
    return [count]


def what_each_device_has():
    """Of a tensor that was divided, of one computed from it, and of one that is on all devices."""
    x = by_rows(data(29, 8, 3))
    y = x * 2
    everywhere = on_a_square(data(28, 2, 3), None, None)
    sync(wait=True)  # a part cannot be asked for before it is there
    if WHERE == "cpu":
        return numbers(x, y, *[everywhere] * 4)
    return [value for tensor in (x, y, everywhere)
            for shard in spmd.wrap_if_sharded(tensor).local_shards
            for value in shard.data.flatten().tolist()]


def batch_divided():
    """The parameters are on all devices, and their gradients are summed over them."""
    model = made(mlp)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = by_rows(data(1, 32, 8)), by_rows(data(2, 32, 4))
    return [step(model, optimizer, x, y) for _ in range(STEPS)]


def batch_and_weights_divided():
    """Columns of the first layer and rows of the second, with what Adam keeps of them."""
    model = made(mlp)
    on_a_square(model[0].weight, "model", None)
    on_a_square(model[0].bias, "model")
    on_a_square(model[2].weight, None, "model")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x, y = on_a_square(data(1, 32, 8), "data", None), on_a_square(data(2, 32, 4), "data", None)
    return [step(model, optimizer, x, y) for _ in range(STEPS)]


def weights_divided_twice():
    """A dimension over both axes, and both dimensions over one axis each."""
    model = made(mlp)
    on_a_square(model[0].weight, ("data", "model"), None)
    on_a_square(model[2].weight, "data", "model")
    return train(model, torch.optim.SGD(model.parameters(), lr=0.05))


def all_replicated():
    model = made(mlp)
    for parameter in model.parameters():
        on_a_square(parameter, *(None,) * parameter.dim())
    return train(model, torch.optim.SGD(model.parameters(), lr=0.05))


def sums_over_devices():
    """Each reduces over a divided dimension, so the devices add up what they have."""
    x = on_a_square(data(30, 8, 12), "data", "model")
    total, rows, columns = x.sum(), x.sum(1), x.mean(0)
    sync()
    return numbers(total, rows, columns, x.amax(1), x.softmax(1), x.cumsum(0))


def products_of_divided():
    a = on_a_square(data(31, 8, 12), "data", "model")
    b = on_a_square(data(32, 12, 4), "model", None)
    c = on_a_square(data(33, 4, 8), None, "data")
    return numbers(a @ b, a @ b @ c, (a @ b).t())


def divided_in_the_middle():
    """A result that is divided in mid-program, and one that is divided in a different way than before."""
    x = data(34, 8, 8)
    y = on_a_square(x * 2, "data", None) @ x
    z = on_a_square(y.relu(), None, "model") + 1
    return numbers(z, y)


def uneven():
    """Five rows over four devices are padded."""
    x = by_rows(data(35, 5, 3))
    x.add_(1)
    return numbers(x, x.sum(0), x * 2)


def indexing_of_divided():
    x = by_rows(data(36, 8, 4))
    places = whole(37, 8, 3, 4)
    values, where = x.topk(2, dim=0)
    return numbers(x.gather(0, places), x[2:5], x.index_select(0, places[:, 0]), values, where,
                   x.sort(0).values, torch.where(x > 0, x, torch.zeros_like(x)))


def divided_no_more():
    x = by_rows(data(38, 8, 4))
    first = numbers(x * 2)
    if WHERE == "spmd":
        spmd.clear_sharding(x)
    return first + numbers(x * 2)


WORKLOADS = [devices, what_each_device_has, batch_divided, batch_and_weights_divided, weights_divided_twice,
             all_replicated, sums_over_devices, products_of_divided, divided_in_the_middle, uneven,
             indexing_of_divided, divided_no_more]
