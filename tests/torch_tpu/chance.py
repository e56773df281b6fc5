"""Random numbers of the device. Prints what must hold of them."""

import torch

DEVICE = "tpu"


def tell(name, holds):
    print(f"holds {name} {bool(holds)}", flush=True)


torch.manual_seed(1)
first, second = (torch.randn(1000, device=DEVICE).cpu() for _ in range(2))
tell("normal", abs(first.mean()) < 0.2 and abs(first.std() - 1) < 0.2)
tell("another-draw-differs", not torch.equal(first, second))
torch.manual_seed(1)
tell("a-seed-repeats-it", torch.equal(torch.randn(1000, device=DEVICE).cpu(), first))
kept = torch.nn.functional.dropout(torch.ones(1000, device=DEVICE), 0.5).cpu()
tell("dropout-keeps-half", 0.4 < (kept == 2).float().mean() < 0.6 and ((kept == 0) | (kept == 2)).all())
