# cause: shape
# subject: input_ids
# old: i64[4,12]
# new: i64[3,12]
# advice: drop_last

import torch
import torch_tpu
import transformers

torch.manual_seed(0)
device = torch.device("tpu")
config = transformers.GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=1, n_head=2,
                                 attn_implementation="eager")
model = transformers.GPT2LMHeadModel(config).to(device)
compiled = torch.compile(model, backend="tpu")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)


def main():
    for step in range(6):
        ids = torch.randint(0, 50, (3 if step == 5 else 4, 12)).to(device)
        optimizer.zero_grad()
        loss = compiled(input_ids=ids, labels=ids).loss  # <- cause
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
