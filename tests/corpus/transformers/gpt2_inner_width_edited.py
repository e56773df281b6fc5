# cause: edit
# old: INNER = 2 * WIDTH
# new: INNER = 3 * WIDTH
# run: --edit "2 * WIDTH"
# run:
# run: --edit "3 * WIDTH"
# run:
# reason: a line of the settings is edited between the two trainings, by a process of its own

import pathlib
import sys

FILE = pathlib.Path("settings.py").resolve()
if "--edit" in sys.argv:
    FILE.write_text(f"""WIDTH = 16
INNER = {sys.argv[2]}
LAYERS = 1
RATE = 0.1
""")
    sys.exit()

import torch  # noqa: E402
import torch_xla  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel  # noqa: E402

sys.path.insert(0, str(FILE.parent))
import settings as settings  # noqa: E402


def build():
    config = GPT2Config(vocab_size=64, n_positions=32, n_embd=settings.WIDTH,
                        n_inner=settings.INNER, n_layer=settings.LAYERS, n_head=2, resid_pdrop=0.0,
                        embd_pdrop=0.0, attn_pdrop=0.0)
    return GPT2LMHeadModel(config)


def train(model, device, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=settings.RATE)
    torch_xla.sync()
    for _ in range(steps):
        ids = torch.randint(64, (4, 16)).to(device)
        optimizer.zero_grad()
        loss = model(ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


torch.manual_seed(0)
device = torch_xla.device()
print(train(build().to(device), device, steps=3))
