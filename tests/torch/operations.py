"""Operations, views, writes in place and gradients, a few of each kind in one program."""

import torch

from common import DEVICE, WHERE, data, numbers, sync, whole

if WHERE == "cpu":
    from torch.utils.checkpoint import checkpoint as computed_again
else:
    from torch_xla.utils.checkpoint import checkpoint as computed_again

functional = torch.nn.functional


def elementwise():
    x, y = data(1, 4, 6), data(2, 4, 6)
    return numbers(x.abs().add(1).log(), x.sigmoid() * y.tanh(), torch.maximum(x, y),
                   torch.atan2(x, y), x.pow(2).rsqrt(), torch.lerp(x, y, 0.25), x.erf(),
                   torch.fmod(x, 0.5), torch.where(x > y, x, -y), x.clamp(-0.5, 0.5),
                   functional.softplus(x), torch.addcmul(x, x, y, value=2), x.round(), x.sign())


def reductions():
    x = data(3, 4, 6)
    return numbers(x.sum(0), x.mean(1), x.var(1), x.std(), x.amax(0), x.argmin(1), x.prod(1),
                   x.logsumexp(1), x.norm(), x.norm(1, 0), (x > 0).any(1), (x > -9).all(),
                   x.softmax(1), x.log_softmax(0), x.median(), torch.count_nonzero(x > 0))


def scans_and_order():
    x = data(4, 5, 8)
    best, where = x.topk(3, dim=1)
    ordered, places = x.sort(dim=0, descending=True)
    return numbers(x.cumsum(1), x.cumprod(0), best, where, ordered, places, x.argsort(1),
                   x.kthvalue(2, 1).values, x.flip(0), x.roll(2, 1), x.diff(dim=1))


def products():
    a, b, v = data(5, 4, 6), data(6, 6, 5), data(7, 6)
    many, more = data(8, 3, 4, 6), data(9, 3, 6, 2)
    return numbers(a @ b, a @ v, torch.bmm(many, more), torch.einsum("bij,bjk->ik", many, more),
                   torch.outer(v, v), torch.addmm(torch.ones(4, 5, device=DEVICE), a, b, beta=0.5),
                   torch.tensordot(a, b, 1), torch.tril(a @ a.T), torch.diagonal(a @ a.T))


def shapes():
    x = data(10, 4, 6)
    left, right = x.chunk(2, 1)
    return numbers(x.reshape(3, 8), x.permute(1, 0), x.unsqueeze(0).expand(2, 4, 6),
                   torch.cat([left, right], 0), torch.stack([left, right]), x.repeat(1, 2),
                   x[1:, ::2], x[:, [3, 0, 3]], x[..., -1], functional.pad(x, (1, 2), value=7.0),
                   torch.tensor_split(x, 3, 1)[1], x.unfold(1, 3, 2), x.squeeze().movedim(0, 1),
                   torch.arange(6, device=DEVICE) * 2, torch.eye(3, device=DEVICE),
                   torch.linspace(0, 1, 5, device=DEVICE), torch.full((2,), 3.0, device=DEVICE))


def gathered_and_scattered():
    x, rows = data(11, 6, 4), whole(12, 6, 3)
    places = whole(13, 6, 2, 4)
    base = torch.zeros(6, 4, device=DEVICE)
    put = base.index_put((rows, torch.tensor([0, 1, 2], device=DEVICE)), x[:3, 0])
    added = base.index_put((rows,), x[:3], accumulate=True)
    return numbers(x.gather(0, places), x.index_select(0, rows), base.scatter(0, places, 2.0),
                   base.scatter_add(0, places, x[:2]), put, added, x.take(rows),
                   base.index_add(0, rows, x[:3]), base.masked_fill(x > 0, 5.0),
                   functional.one_hot(rows, 6), functional.embedding(rows, x),
                   torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0], device=DEVICE)))


def dtypes():
    """To each type and back; sums of whole numbers do not round."""
    x = data(14, 4, 6) * 10
    n = whole(15, 100, 12)
    kinds = (torch.bfloat16, torch.float16, torch.float64, torch.int32, torch.int8, torch.bool)
    return numbers(*(x.to(kind).to(torch.float32) for kind in kinds), n // 7, n % 7, n >> 1,
                   n & 12, n ^ 5, ~n, (n > 50) | (n < 10), n.to(torch.uint8).sum(),
                   n.to(torch.int16) * 3, n.float() / 3, torch.true_divide(n, 4),
                   (x.to(torch.float64) * 2).to(torch.float32))


def writes_in_place():
    x = data(4, 6, 6)
    view = x[2:4]
    view.mul_(3)
    sync()
    x.add_(1).clamp_(min=0)
    x[:, 0] = 7
    x.index_fill_(0, torch.tensor([5], device=DEVICE), -2.0)
    sync()
    return numbers(x, view)


def writes_through_views():
    """A view of a view, a transposed one, a diagonal, and copies that must not see the writes."""
    x = data(16, 6, 6)
    before = x.clone()
    x.t()[1:3].view(2, 6)[0].add_(10)
    x.diagonal().zero_()
    x.view(36)[::7].sub_(1)
    left, right = x.split(3, dim=1)
    left.copy_(right)
    sync()
    x[4:, 4:] = x[:2, :2]
    x.masked_fill_(x > 5, 5.0)
    x[whole(17, 6, 2)] *= 2
    row = x.select(0, 3)
    row.fill_(0.5)
    return numbers(x, before, row, left, right)


def writes_without_a_sync():
    """Twenty in one program: each sees the one before."""
    x = torch.zeros(8, device=DEVICE)
    for at in range(8):
        x[at] = x.sum() + 1
    y = torch.ones(4, device=DEVICE)
    for factor in (2.0, 3.0, 4.0):
        y.mul_(factor).sub_(1)
    return numbers(x, y)


def random_numbers():
    torch.manual_seed(5)
    x = torch.rand(8, device=DEVICE)
    y = torch.empty(8, device=DEVICE).normal_()
    z = torch.bernoulli(torch.full((8,), 0.5, device=DEVICE))
    return numbers(x, y, z, torch.randperm(6, device=DEVICE), torch.rand_like(x))


def derivatives():
    x = data(5, 4, 4).requires_grad_()
    y = (x.exp() @ x.sin()).tanh().sum()
    first, = torch.autograd.grad(y, x, create_graph=True)
    second, = torch.autograd.grad(first.pow(2).sum(), x)
    return numbers(first, second)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        return gradient * 3 + x


def derivatives_of_indexing():
    """Gradients through gather, scatter, sort, a write in place, a branch, and one's own function."""
    x = data(18, 5, 4).requires_grad_()
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient * 2))
    y = x.clone()
    y[1] = x[0] * x[2]
    y = y.gather(1, whole(19, 4, 5, 2)).sum() + x.sort(0).values[0].prod() + x.cumsum(0).pow(2).mean()
    y = y + torch.where(x > 0, x * x, x.exp()).sum() + Doubled.apply(x).pow(2).sum()
    y = y + functional.embedding(whole(20, 5, 3), x).pow(2).sum() + x[x.argmax(0)].sum()
    y.backward()
    return numbers(y, x.grad, *seen)


def derivatives_computed_again():
    """Activations are not kept: the backward pass computes them once more."""
    w, x = data(21, 6, 6).requires_grad_(), data(22, 3, 6).requires_grad_()
    y = computed_again(lambda v: (v @ w).relu() @ w, x, use_reentrant=True).sum()
    y.backward()
    return numbers(y, w.grad, x.grad)


WORKLOADS = [elementwise, reductions, scans_and_order, products, shapes, gathered_and_scattered,
             dtypes, writes_in_place, writes_through_views, writes_without_a_sync, random_numbers,
             derivatives, derivatives_of_indexing, derivatives_computed_again]
