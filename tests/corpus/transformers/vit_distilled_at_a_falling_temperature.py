# cause: constant
# old: an argument
# new: 1
# reason: the temperature is a number of the host, an argument until it has fallen to 1

import torch
import torch.nn.functional as F
import torch_xla
from transformers import ViTConfig, ViTForImageClassification

device = torch_xla.device()
torch.manual_seed(0)


def network(width):
    config = ViTConfig(hidden_size=width, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                       image_size=16, patch_size=8, num_labels=5, hidden_dropout_prob=0.0,
                       attention_probs_dropout_prob=0.0, attn_implementation="eager")
    return ViTForImageClassification(config).to(device)


def distillation_loss(student, teacher, temperature):
    student = F.log_softmax(student / temperature, dim=-1)  # <- cause
    teacher = F.softmax(teacher / temperature, dim=-1)
    return F.kl_div(student, teacher, reduction="batchmean") * temperature ** 2


student, teacher = network(16).train(), network(32).eval().requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
torch_xla.sync()
for step, temperature in enumerate((3.0, 2.0, 1.0)):
    pixels = torch.rand(6, 3, 16, 16).to(device)
    with torch.no_grad():
        wanted = teacher(pixels).logits
    loss = distillation_loss(student(pixels).logits, wanted, temperature)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, temperature, loss.item())
