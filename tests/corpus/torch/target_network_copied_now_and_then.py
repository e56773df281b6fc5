# program: SyncTensorsGraph
# cause: arguments
# old: f32[2]
# new: absent
# reason: what is copied on the device is recorded with the next step, where both networks are one

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


def network():
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).to(device)


online, target = network(), network()
optimizer = torch.optim.SGD(online.parameters(), lr=0.05)
torch_xla.sync()
for step in range(5):
    states, following = torch.randn(6, 4).to(device), torch.randn(6, 4).to(device)
    actions, rewards = torch.randint(2, (6, 1)).to(device), torch.randn(6).to(device)
    with torch.no_grad():
        wanted = rewards + 0.99 * target(following).amax(1)
    values = online(states).gather(1, actions).squeeze(1)
    loss = torch.nn.functional.smooth_l1_loss(values, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    if step == 3:
        target.load_state_dict(online.state_dict())  # <- cause
