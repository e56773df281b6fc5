# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


@torch.compile(backend="tpu")
def attend(query, keys, at):
    keys = keys.index_copy(1, at, query)
    known = torch.arange(16, device=keys.device) <= at
    scores = (query @ keys.transpose(1, 2)).masked_fill(~known, float("-inf"))
    return torch.softmax(scores, -1) @ keys, keys


def main():
    keys = torch.zeros(1, 16, 16).to(device)
    query = torch.ones(1, 1, 16).to(device)
    with torch.no_grad():
        for step in range(6):
            query, keys = attend(query, keys, torch.tensor([step]).to(device))
            print("%.5f" % query.sum().item())


main()
