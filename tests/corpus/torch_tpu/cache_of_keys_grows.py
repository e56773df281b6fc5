# cause: shape
# subject: keys
# old: f32[1,8,16]
# new: f32[1,9,16]
# advice: Allocate the full length | Pad

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


@torch.compile(backend="tpu")
def attend(query, keys):
    return torch.softmax(query @ keys.transpose(1, 2), -1) @ keys


def main():
    keys = torch.ones(1, 4, 16).to(device)
    with torch.no_grad():
        for step in range(6):
            query = attend(torch.ones(1, 1, 16).to(device), keys)  # <- cause
            keys = torch.cat([keys, query], 1)
            print("%.5f" % query.sum().item())


main()
