"""`vllm serve` on a TPU with a tiny random Llama, as a user starts it: it warms up, then answers two requests over
HTTP. The second one asks for what the warm-up leaves out.
"""

import json
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from vllm_serve import MODEL

FLAGS = ("--load-format dummy --max-model-len 128 --max-num-seqs 8 --max-num-batched-tokens 128"
         " --gpu-memory-utilization 0.5 --no-enable-prefix-caching --shutdown-timeout 60")


def make_model():
    """A folder with a configuration and a tokenizer that has a word for each number."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    folder = pathlib.Path("llama")
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(MODEL))
    words = {"<s>": 0, "</s>": 1} | {str(number): number for number in range(2, MODEL["vocab_size"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<s>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>").save_pretrained(folder)
    return folder


def free_port():
    with socket.socket() as server:
        server.bind(("localhost", 0))
        return server.getsockname()[1]


def wait_until_it_serves(server, address):
    while True:
        try:
            return urllib.request.urlopen(f"{address}/health", timeout=5).close()
        except OSError:
            if server.poll() is not None:
                sys.exit(f"vllm serve ended with {server.returncode}")
            time.sleep(1)


def ask(address, model, tokens, **wanted):
    prompt = " ".join(str(7 * i % 1000 + 3) for i in range(tokens))
    body = {"model": str(model), "prompt": prompt, "max_tokens": 4, "temperature": 0} | wanted
    request = urllib.request.Request(f"{address}/v1/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        print("answered", json.load(answer)["usage"], flush=True)


def main():
    model, port = make_model(), free_port()
    address = f"http://localhost:{port}"
    vllm = pathlib.Path(sys.executable).parent / "vllm"
    server = subprocess.Popen([vllm, "serve", model, "--port", str(port), *FLAGS.split()])
    try:
        wait_until_it_serves(server, address)
        ask(address, model, 4)
        ask(address, model, 12, prompt_logprobs=3)  # vLLM warms up no program that computes logits of a whole prompt
        print("done")
    except urllib.error.HTTPError as error:
        sys.exit(f"HTTP {error.code}")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


if __name__ == "__main__":
    main()
