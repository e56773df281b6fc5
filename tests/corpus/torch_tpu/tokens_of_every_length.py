# cause: shape
# pattern: unpadded

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Embedding(50, 16), torch.nn.Linear(16, 50)).to(device)


@torch.compile(backend="tpu")
def loss_of(tokens):
    logits = model(tokens[:, :-1])
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def main():
    for step, length in enumerate((9, 12, 7, 16, 11, 14)):
        tokens = torch.randint(0, 50, (4, length)).to(device)
        loss = loss_of(tokens)  # <- cause
        loss.backward()
        print("loss %.5f" % loss.item())


main()
