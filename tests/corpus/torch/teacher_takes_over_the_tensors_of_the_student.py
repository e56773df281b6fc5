# program: SyncTensorsGraph
# cause: arguments
# new: absent
# reason: load_state_dict(assign=True) makes the teacher's weights the student's, so that they are not arguments of their own

import copy

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class Student(nn.Module):
    def __init__(self, inputs=8, classes=4):
        super().__init__()
        self.body = nn.Linear(inputs, 16)
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.body(x).tanh())


class BornAgain:
    """After each generation the student becomes the teacher of the next."""

    def __init__(self, device):
        self.device = device
        self.student = Student().to(device)
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.05)
        torch_xla.sync()

    def step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        with torch.no_grad():
            wanted = self.teacher(x).softmax(1)
        logits = self.student(x)
        loss = F.cross_entropy(logits, y) + F.kl_div(logits.log_softmax(1), wanted,
                                                     reduction="batchmean")
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        torch_xla.sync()  # <- call
        return loss

    def next_generation(self):
        self.teacher.load_state_dict(self.student.state_dict(), assign=True)


def main():
    torch.manual_seed(0)
    training = BornAgain(torch_xla.device())
    for generation in range(2):
        for _ in range(3):
            loss = training.step(torch.randn(8, 8), torch.randint(4, (8,)))
        print(generation, loss.item())
        training.next_generation()


main()
