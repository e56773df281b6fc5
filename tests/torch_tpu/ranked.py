"""What several ranks of TorchTPU do together: collectives, DDP, FSDP2 and DTensor. Prints a line for each
rank and value.

ranked.py launched   as one rank, started by torchrun or `keel rehearse`
ranked.py spawns     starts four ranks as TorchTPU's own launcher does
ranked.py expected   the same lines, by plain PyTorch in one process"""

import os
import sys

import torch

RANKS, STEPS, WIDTH = 4, 2, 8


def tell(name, rank, values):
    line = f"got {name} {rank} {' '.join(f'{value:.4f}' for value in values)}\n"
    os.write(1, line.encode())  # at once: ranks share the output


def share(rank, *dims):
    return torch.arange(1.0, 1 + torch.Size(dims).numel()).reshape(dims) + rank


def batch(rank):
    return share(rank, 4, WIDTH) / 16


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 2 * WIDTH), torch.nn.GELU(), torch.nn.Linear(2 * WIDTH, WIDTH))


def train(name, rank, net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = net(batch(rank).to("tpu")).square().mean()
        loss.backward()
        optimizer.step()
        tell(name, rank, [loss.detach().item()])


def collect(rank, dist):
    def told(name, value):
        tell(name, rank, value.cpu().flatten().tolist())

    value = share(rank, 4).to("tpu")
    dist.all_reduce(value)
    told("sum", value)
    value = share(rank, 4).to("tpu")
    dist.all_reduce(value, op=dist.ReduceOp.MAX)
    told("most", value)
    value = share(rank, 4).to("tpu")
    dist.broadcast(value, 2)
    told("broadcast", value)
    value = torch.empty(4 * RANKS, device="tpu")
    dist.all_gather_into_tensor(value, share(rank, 4).to("tpu"))
    told("gathered", value)
    value = torch.empty(2, device="tpu")
    dist.reduce_scatter_tensor(value, share(rank, 2 * RANKS).to("tpu"))
    told("scattered", value)
    value = torch.empty(RANKS, device="tpu")
    dist.all_to_all_single(value, share(rank, RANKS).to("tpu"))
    told("exchanged", value)


def work():
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import Shard, distribute_tensor

    dist.init_process_group(backend="tpu_dist")
    rank, mesh = dist.get_rank(), init_device_mesh("tpu", (RANKS,))
    collect(rank, dist)
    train("ddp", rank, torch.nn.parallel.DistributedDataParallel(model().to("tpu")))
    train("fsdp", rank, fully_shard(model().to("tpu"), mesh=mesh))
    whole = distribute_tensor(share(0, WIDTH, WIDTH).to("tpu"), mesh, [Shard(0)])
    tell("dtensor", rank, [(whole @ whole).full_tensor().sum().item()])
    dist.destroy_process_group()


def spawned(rank):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(RANKS))
    work()


def expect():
    shares = torch.stack([share(rank, 4) for rank in range(RANKS)])
    scattered = torch.stack([share(rank, 2 * RANKS) for rank in range(RANKS)]).sum(0)
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for rank in range(RANKS):
        tell("sum", rank, shares.sum(0).tolist())
        tell("most", rank, shares.max(0).values.tolist())
        tell("broadcast", rank, shares[2].tolist())
        tell("gathered", rank, shares.flatten().tolist())
        tell("scattered", rank, scattered[2 * rank:2 * rank + 2].tolist())
        tell("exchanged", rank, [share(other, RANKS)[rank].item() for other in range(RANKS)])
        tell("dtensor", rank, [(share(0, WIDTH, WIDTH) @ share(0, WIDTH, WIDTH)).sum().item()])
    for _ in range(STEPS):
        optimizer.zero_grad()
        losses = [net(batch(rank)).square().mean() for rank in range(RANKS)]
        (sum(losses) / RANKS).backward()
        optimizer.step()
        for rank, loss in enumerate(losses):
            tell("ddp", rank, [loss.item()])
            tell("fsdp", rank, [loss.item()])


def main(mode):
    if mode == "spawns":
        from torch.tpu import distributed
        os.environ.setdefault("MASTER_ADDR", "localhost")
        os.environ.setdefault("MASTER_PORT", "29577")
        distributed.set_tpu_launch_env(nproc_per_node=RANKS)
        torch.multiprocessing.spawn(spawned, nprocs=RANKS)
    else:
        {"launched": work, "expected": expect}[mode]()


if __name__ == "__main__":
    main(*sys.argv[1:])
