# program: SyncTensorsGraph
# cause: structure
# new: nothing
# reason: the bonus is left out when its weight has fallen to 0

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
actor = torch.nn.Linear(5, 3).to(device)
optimizer = torch.optim.SGD(actor.parameters(), lr=0.05)
torch_xla.sync()


def loss_of(logits, actions, advantages, entropy_weight):
    log_probabilities = logits.log_softmax(-1)
    chosen = log_probabilities.gather(1, actions[:, None]).squeeze(1)
    loss = -(chosen * advantages).mean()
    if entropy_weight > 0:
        loss = loss + entropy_weight * (log_probabilities.exp() * log_probabilities).sum(1).mean()  # <- cause
    return loss


for update in range(4):
    states = torch.randn(7, 5).to(device)
    actions = torch.randint(3, (7,)).to(device)
    advantages = torch.randn(7).to(device)
    loss = loss_of(actor(states), actions, advantages, max(0.0, 0.03 - 0.01 * update))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
