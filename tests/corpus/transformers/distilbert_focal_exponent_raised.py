# cause: constant
# subject: power
# old: 2
# new: 3

import torch
import torch.nn.functional as F
import torch_xla
from transformers import DistilBertConfig, DistilBertForSequenceClassification


class FocalLoss(torch.nn.Module):
    def __init__(self, exponent):
        super().__init__()
        self.exponent = exponent

    def forward(self, logits, labels):
        losses = F.cross_entropy(logits, labels, reduction="none")
        easy = torch.exp(-losses)
        return ((1 - easy) ** self.exponent * losses).mean()  # <- cause


class FocusMore:
    """Raises the exponent by one at the end of each epoch."""

    def __init__(self, criterion, highest):
        self.criterion, self.highest = criterion, highest

    def end_of_epoch(self):
        self.criterion.exponent = min(self.highest, self.criterion.exponent + 1)


def train(model, device, epochs):
    criterion = FocalLoss(2)
    schedule = FocusMore(criterion, highest=3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(epochs):
        for _ in range(2):
            ids, labels = torch.randint(64, (4, 12)).to(device), torch.randint(3, (4,)).to(device)
            optimizer.zero_grad()
            loss = criterion(model(ids).logits, labels)
            loss.backward()
            optimizer.step()
            torch_xla.sync()  # <- call
        schedule.end_of_epoch()
        print(epoch, loss.item())


torch.manual_seed(0)
device = torch_xla.device()
config = DistilBertConfig(vocab_size=64, dim=16, n_layers=1, n_heads=2, hidden_dim=32, dropout=0.0,
                          attention_dropout=0.0, seq_classif_dropout=0.0, num_labels=3,
                          max_position_embeddings=32, attn_implementation="eager")
model = DistilBertForSequenceClassification(config).to(device)
torch_xla.sync()
train(model, device, epochs=3)
