# cause: stable

import torch
import torch_xla
from torch.utils.data import DataLoader
from transformers import BartConfig, BartForConditionalGeneration, get_constant_schedule

device = torch_xla.device()
torch.manual_seed(0)
SOURCE, TARGET = 16, 7
config = BartConfig(vocab_size=64, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                    decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
                    max_position_embeddings=24, dropout=0.1, attn_implementation="eager")
model = BartForConditionalGeneration(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
schedule = get_constant_schedule(optimizer)


def collate(rows):
    ids = torch.full((len(rows), SOURCE), config.pad_token_id)
    labels = torch.full((len(rows), TARGET), -100)
    for place, (source, target) in enumerate(rows):
        ids[place, :len(source)] = source
        labels[place, :len(target)] = target
    return {"input_ids": ids, "attention_mask": (ids != config.pad_token_id).long(), "labels": labels}


rows = [(torch.randint(3, 64, (int(n),)), torch.randint(3, 64, (int(n) // 3 + 1,)))
        for n in torch.randint(4, SOURCE + 1, (18,))]
training = DataLoader(rows[:10], batch_size=4, shuffle=True, drop_last=True, collate_fn=collate)
testing = DataLoader(rows[10:], batch_size=4, collate_fn=collate)
torch_xla.sync()
for epoch in range(2):
    model.train()
    for batch in training:
        batch = {name: value.to(device) for name, value in batch.items()}
        optimizer.zero_grad()
        loss = model(**batch, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        torch_xla.sync()
    model.eval()
    losses = []
    with torch.no_grad():
        for batch in testing:
            batch = {name: value.to(device) for name, value in batch.items()}
            held_out = model(**batch, use_cache=False).loss
            torch_xla.sync()
            losses.append(held_out.item())
    print(epoch, loss.item(), sum(losses) / len(losses))
