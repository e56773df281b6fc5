# cause: shape
# old: f32[3...
# new: f32[5...
# advice: size
# reason: the head is replaced by one for five labels before the second task

import torch
import torch_xla
from transformers import AlbertConfig, AlbertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = AlbertConfig(vocab_size=64, embedding_size=8, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                      intermediate_size=32, max_position_embeddings=32, classifier_dropout_prob=0.0,
                      num_labels=3, attn_implementation="eager")
model = AlbertForSequenceClassification(config).to(device).train()
mask = torch.ones(4, 10).to(device)
torch_xla.sync()


def change_labels(model, number):
    model.num_labels = model.config.num_labels = number
    model.classifier = torch.nn.Linear(config.hidden_size, number).to(device)  # <- cause


def fine_tune(steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        ids = torch.randint(64, (4, 10)).to(device)
        labels = torch.randint(model.num_labels, (4,)).to(device)
        optimizer.zero_grad()
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


print("three labels", fine_tune(2))
change_labels(model, 5)
print("five labels", fine_tune(2))
