# cause: arguments
# old: absent
# reason: SGD makes its momentum in the first step

import torch
import torch_xla
from transformers import T5Config, T5ForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(0)
config = T5Config(vocab_size=50, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2, dropout_rate=0.0,
                  decoder_start_token_id=0)


def pairs(count):
    for _ in range(count):
        yield torch.randint(2, 50, (3, 9)), torch.randint(2, 50, (3, 5))


def train(model, optimizer, batches):
    for source, target in batches:
        source, target = source.to(device), target.to(device)
        optimizer.zero_grad()
        loss = model(input_ids=source, labels=target).loss
        loss.backward()
        optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
    return loss.item()


model = T5ForConditionalGeneration(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
torch_xla.sync()
print(train(model, optimizer, pairs(3)))
