# program: SyncTensorsGraph
# cause: shape
# old: f32[6,1,8,8]
# new: f32[2,1,8,8]
# advice: drop_last
# reason: noise and labels are made on the device, as many as the batch has pictures

import torch
import torch_xla
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
generator = torch.nn.Sequential(torch.nn.ConvTranspose2d(4, 4, 4), torch.nn.ReLU(),
                                torch.nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1)).to(device)
judge = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 4, stride=2, padding=1), torch.nn.LeakyReLU(0.2),
                            torch.nn.Conv2d(4, 1, 4)).to(device)
of_generator = torch.optim.SGD(generator.parameters(), lr=0.01)
of_judge = torch.optim.SGD(judge.parameters(), lr=0.01)
criterion = torch.nn.BCEWithLogitsLoss()
loader = DataLoader(TensorDataset(torch.rand(14, 1, 8, 8)), batch_size=6)
torch_xla.sync()
for (pictures,) in loader:
    real = pictures.to(device)  # <- cause
    count = real.size(0)
    label = torch.full((count,), 0.9, device=device)
    noise = torch.randn(count, 4, 1, 1, device=device)
    fake = generator(noise)
    of_judge.zero_grad()
    criterion(judge(real).flatten(), label).backward()
    criterion(judge(fake.detach()).flatten(), torch.zeros_like(label)).backward()
    of_judge.step()
    of_generator.zero_grad()
    criterion(judge(fake).flatten(), label).backward()
    of_generator.step()
    torch_xla.sync()  # <- call
