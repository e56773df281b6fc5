# program: SyncTensorsGraph
# cause: edit
# old: return self.head(torch.relu(x))
# new: return self.head(torch.tanh(x))
# run: write relu
# run: train
# run: write tanh
# run: train
# reason: the file of the model is edited between the two trainings

import pathlib
import sys

FILE = pathlib.Path("model.py")
if sys.argv[1] == "write":
    FILE.write_text(f"""import torch


class Regressor(torch.nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.body = torch.nn.Linear(inputs, 12)
        self.head = torch.nn.Linear(12, 1)

    def forward(self, x):
        x = self.body(x)
        return self.head(torch.{sys.argv[2]}(x))
""")
    sys.exit()

sys.path.insert(0, str(FILE.resolve().parent))

import torch  # noqa: E402
import torch_xla  # noqa: E402
from model import Regressor  # noqa: E402

device = torch_xla.device()
torch.manual_seed(0)


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    return loss.item()


model = Regressor(5).to(device)
torch_xla.sync()
batches = [(torch.randn(8, 5), torch.randn(8, 1)) for _ in range(3)]
print(train(model, batches))
