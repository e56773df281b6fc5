# cause: structure
# subject: optimizer
# new: updates none
# reason: both share the line of the sync; the evaluation is the training without its second half

import torch
import torch_xla
from transformers import BertConfig, BertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=64, hidden_dropout_prob=0.0,
                    attention_probs_dropout_prob=0.0, num_labels=3, attn_implementation="eager")
model = BertForSequenceClassification(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randint(64, (4, 16)), torch.randint(3, (4,))) for _ in range(2)]
mask = torch.ones(4, 16).to(device)
torch_xla.sync()


def run_epoch(train):
    model.train(train)
    losses = []
    with torch.set_grad_enabled(train):
        for ids, labels in batches:
            loss = model(input_ids=ids.to(device), attention_mask=mask,
                         labels=labels.to(device)).loss
            if train:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()  # <- cause
            torch_xla.sync()  # <- call
            losses.append(loss.item())
    return sum(losses) / len(losses)


for epoch in range(2):
    print(epoch, run_epoch(True), run_epoch(False))
