"""vLLM on a TPU with a tiny random Llama: it warms up, then answers requests. The last one asks for what the warm-up
leaves out.

Usage: vllm_serve.py [CHIPS]
"""

import json
import os
import pathlib
import sys

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 512,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 64, "vocab_size": 1024,
         "max_position_embeddings": 256, "dtype": "bfloat16", "hidden_act": "silu"}


def main():
    from vllm import LLM, SamplingParams

    chips = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    folder = pathlib.Path("llama")
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(MODEL))
    llm = LLM(model=str(folder), load_format="dummy", skip_tokenizer_init=True, max_model_len=128, max_num_seqs=8,
              max_num_batched_tokens=128, gpu_memory_utilization=0.5, enable_prefix_caching=False,
              tensor_parallel_size=chips)

    def answer(tokens, **wanted):
        prompt = {"prompt_token_ids": [7 * i % 1000 + 3 for i in range(tokens)]}
        made = llm.generate([prompt], SamplingParams(max_tokens=4, detokenize=False, **wanted))
        print("generated", made[0].outputs[0].token_ids, flush=True)

    answer(4, temperature=0.0)
    answer(40, temperature=0.8, top_k=5)
    answer(4, logprobs=3)
    answer(12, prompt_logprobs=3)  # ACCIDENT: vLLM warms up no program that computes logits of a whole prompt
    print("done")


if __name__ == "__main__":
    main()
