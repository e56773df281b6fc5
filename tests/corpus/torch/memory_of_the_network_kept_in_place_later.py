# program: SyncTensorsGraph
# cause: donation
# old: kept
# new: donated
# reason: an echo state network: its state is a new tensor at first, and overwritten from the third chunk on

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Reservoir:
    def __init__(self, width):
        self.inner = (0.3 * torch.randn(width, width)).to(device)
        self.outer = torch.randn(1, width).to(device)
        self.state = torch.zeros(2, width).to(device)

    def drive(self, signal, in_place):
        for value in signal.unbind(1):
            state = torch.tanh(value[:, None] @ self.outer + self.state @ self.inner)
            if in_place:
                self.state.copy_(state)  # <- cause
            else:
                self.state = state
        return self.state.mean(1)


reservoir = Reservoir(10)
torch_xla.sync()
for chunk in range(4):
    signal = torch.randn(2, 3).to(device)
    level = reservoir.drive(signal, in_place=chunk >= 2)
    torch_xla.sync()  # <- call
    print(chunk, level.tolist())
