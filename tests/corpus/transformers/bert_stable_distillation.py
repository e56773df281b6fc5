# cause: stable

import torch
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)


def make(layers):
    return BertForSequenceClassification(BertConfig(
        vocab_size=64, hidden_size=16, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, num_labels=3,
        attn_implementation="eager")).to(device)


teacher, student = make(2).eval(), make(1).train()
data = TensorDataset(torch.randint(64, (18, 16)), torch.randint(3, (18,)))
loader = DataLoader(data, batch_size=4, shuffle=True, drop_last=True)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
mask = torch.ones(4, 16).to(device)
torch_xla.sync()
temperature, step = 2.0, 0
for epoch in range(2):
    for ids, labels in loader:
        ids, labels = ids.to(device), labels.to(device)
        share = 0.9 - 0.05 * step
        with torch.no_grad():
            wanted = teacher(input_ids=ids, attention_mask=mask).logits
        logits = student(input_ids=ids, attention_mask=mask).logits
        soft = F.kl_div(F.log_softmax(logits / temperature, -1),
                        F.softmax(wanted / temperature, -1), reduction="batchmean")
        loss = share * temperature**2 * soft + (1 - share) * F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        step += 1
    print(epoch, loss.item())
