# cause: shape
# pattern: unpadded
# advice: Pad
# reason: a batch of questions and contexts is as long as its longest row

import torch
import torch_xla
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import MobileBertConfig, MobileBertForQuestionAnswering

device = torch_xla.device()
torch.manual_seed(0)
config = MobileBertConfig(vocab_size=64, hidden_size=16, embedding_size=16, num_hidden_layers=1,
                          num_attention_heads=2, intermediate_size=32, intra_bottleneck_size=16,
                          max_position_embeddings=40, attn_implementation="eager")
model = MobileBertForQuestionAnswering(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
lengths = (12, 9, 11, 18, 7, 16, 15, 10, 13, 21, 19, 8, 24, 20, 9)
rows = [{"input_ids": torch.randint(1, 64, (length,)), "answer": (3, 5)} for length in lengths]
torch_xla.sync()


def collate(rows):
    ids = pad_sequence([row["input_ids"] for row in rows], batch_first=True)
    starts, ends = torch.tensor([row["answer"] for row in rows]).unbind(1)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "start_positions": starts.contiguous(),
            "end_positions": ends.contiguous()}


for batch in DataLoader(rows, batch_size=3, collate_fn=collate):
    batch = {name: value.to(device) for name, value in batch.items()}  # <- cause
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(batch["input_ids"].shape[1], loss.item())
