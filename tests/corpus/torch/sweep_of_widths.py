# program: SyncTensorsGraph
# cause: shape
# old: f32[1,16]
# new: f32[1,32]
# reason: each width that is tried is another model

import torch
import torch_xla

device = torch_xla.device()


def build(width):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))
    return model.to(device)  # <- cause


def train(model, steps=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x = torch.randn(4, 8).to(device)
        y = torch.randn(4, 1).to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


results = {width: train(build(width)) for width in (16, 32)}
print(min(results, key=results.get))
