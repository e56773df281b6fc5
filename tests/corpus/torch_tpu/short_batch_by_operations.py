# program: tt_jit_linear
# cause: shape
# old: f32[8,16]
# new: f32[5,16]

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


def batch(step, rows=8):
    generator = torch.Generator().manual_seed(step)
    return torch.randn(rows, 16, generator=generator), torch.randn(rows, 4, generator=generator)


def main():
    for step in range(10):
        x, y = batch(step, rows=5 if step == 8 else 8)
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
