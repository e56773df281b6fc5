# cause: structure
# old: nothing
# reason: layers with a dropout of 0 draw no random numbers

import torch
import torch_xla
from transformers import ElectraConfig, ElectraForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)


def set_dropout(model, rate):
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = rate


config = ElectraConfig(vocab_size=64, embedding_size=16, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                       intermediate_size=32, max_position_embeddings=32, hidden_dropout_prob=0.0,
                       attention_probs_dropout_prob=0.0, num_labels=2, attn_implementation="eager")
model = ElectraForSequenceClassification(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = [(torch.randint(64, (4, 10)), torch.randint(2, (4,))) for _ in range(2)]
mask = torch.ones(4, 10, dtype=torch.long).to(device)
torch_xla.sync()
for epoch in range(2):
    set_dropout(model, 0.0 if epoch == 0 else 0.15)
    for ids, labels in data:
        ids, labels = ids.to(device), labels.to(device)
        optimizer.zero_grad()
        outputs = model(input_ids=ids, attention_mask=mask, labels=labels)  # <- cause
        outputs.loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, outputs.loss.item())
