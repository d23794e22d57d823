# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Where the weights of a mapped model are: llama.cpp, from its package for Python, on virtual machines in the lab.

A small LLaMA model with random weights (F16, a fixed seed) lies in the page cache of node 0. llama.cpp maps it,
evaluates a prompt of 8 tokens and generates a few, with bound threads. The lab counts the cache lines that
the nodes fetch. Each case places the file in another way first. `weights` is the traffic of the mapping, or of
memory outside known arrays (which is mostly the mapping) if the result has no row for it. The tokens and the
checksum of all logits must be the same in every case.

    bench/llama.py --nodewise build/release/bin/nodewise [--machine 4x2] [--output FILE]

llama.cpp divides the rows of a matrix by thread only if it was told about NUMA (`numa`): 0 not at all, 1 distribute
(thread k on node k modulo nodes, by llama.cpp itself), 4 mirror (rows by thread, threads are not bound by llama.cpp).
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time
import zlib

from machine import describe_machine

VERSION = "0.3.36"
# Instructions that the lab's emulator has; without OpenMP, nodewise would not know which thread is which. The
# emulator reads too much at fused multiply-adds of one element, which -ffp-contract=off avoids.
BUILD = {"CMAKE_ARGS": "-DGGML_NATIVE=OFF -DGGML_OPENMP=ON -DGGML_LLAMAFILE=OFF -DLLAVA_BUILD=OFF",
         "CMAKE_BUILD_PARALLEL_LEVEL": "2", "CFLAGS": "-ffp-contract=off", "CXXFLAGS": "-ffp-contract=off"}
TOKENS = 512
PROMPT = [1, 300, 301, 302, 303, 304, 305, 306]
HERE = pathlib.Path(__file__).resolve()

NODE_0 = "node 0"
# Name, llama.cpp's `numa`, threads, options of `nodewise warm`, more options of `nodewise run`.
CASES = [
    (NODE_0, 4, 8, None, []),
    ("blocked, by tensor", 4, 8, ["--by-tensor", "--readers", "8"], []),
    ("blocked", 4, 8, ["--readers", "8"], []),
    ("interleave", 4, 8, ["--to", "interleave"], []),
    ("rule: blocked", 4, 8, None, ["--rule", "file=*.gguf:blocked"]),
    ("numa 0: node 0", 0, 8, None, []),
    ("numa 0: blocked, by tensor", 0, 8, ["--by-tensor", "--readers", "8"], []),
    ("numa 1: blocked, by tensor", 1, 8, ["--by-tensor", "--readers", "8"], []),
    ("numa 1, a thread per node: blocked, by tensor", 1, 0, ["--by-tensor"], ["--bind", "spread"]),
]


def write_model(path, layers=2, width=1024, inner=2048, heads=8):
    import gguf
    import numpy

    random = numpy.random.default_rng(1)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(layers)
    writer.add_context_length(256)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    kind = gguf.TokenType
    words = TOKENS - 259
    writer.add_vocab_size(TOKENS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] +
                          [f"w{k}" for k in range(words)])
    writer.add_token_scores([-float(k) for k in range(TOKENS)])
    writer.add_token_types([kind.UNKNOWN, kind.CONTROL, kind.CONTROL] + [kind.BYTE] * 256 + [kind.NORMAL] * words)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)

    def weights(name, rows, columns):
        values = random.standard_normal((rows, columns)) / columns ** 0.5
        writer.add_tensor(f"{name}.weight", values.astype(numpy.float16))

    def ones(name):
        writer.add_tensor(f"{name}.weight", numpy.ones(width, numpy.float32))

    weights("token_embd", TOKENS, width)
    for k in range(layers):
        ones(f"blk.{k}.attn_norm")
        for each in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"blk.{k}.{each}", width, width)
        ones(f"blk.{k}.ffn_norm")
        weights(f"blk.{k}.ffn_gate", inner, width)
        weights(f"blk.{k}.ffn_up", inner, width)
        weights(f"blk.{k}.ffn_down", width, inner)
    ones("output_norm")
    weights("output", TOKENS, width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def evaluate(path, numa, threads, count):
    import llama_cpp
    import numpy

    model = llama_cpp.Llama(path, n_ctx=64, n_batch=32, n_threads=threads, n_threads_batch=threads, numa=numa,
                            use_mmap=True, verbose=False)
    model.eval(PROMPT)
    tokens = []
    checksum = 0
    for _ in range(count):
        logits = numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(model._ctx.ctx, -1), (TOKENS,))
        checksum = zlib.crc32(logits.tobytes(), checksum)
        tokens.append(int(logits.argmax()))
        model.eval(tokens[-1:])
    print("made", *tokens, f"{checksum:08x}", flush=True)


def prepare(folder):
    """The virtual environment and the model. Building llama.cpp takes minutes."""
    python = folder / "venv/bin/python"
    have = subprocess.run([python, "-c", "import gguf, llama_cpp; print(llama_cpp.__version__)"], capture_output=True,
                          text=True) if python.exists() else None
    if have is None or have.stdout.strip() != VERSION:
        subprocess.run(["python3", "-m", "venv", folder / "venv"], check=True)
        subprocess.run(["nice", "-n", "10", python, "-m", "pip", "install", "--quiet", "gguf",
                        f"llama_cpp_python=={VERSION}"], env={**os.environ, **BUILD}, check=True)
    model = folder / "model.gguf"
    if not model.exists():
        subprocess.run([python, "-B", HERE, "--write-model", model], check=True)
    return python, model


def run_case(asked, machine, python, model, case):
    name, numa, threads, warm, options = case
    nodes = int(machine.split("x")[0])
    threads = threads or nodes
    words = [asked.nodewise, "warm", "--quiet", *warm, "/scratch/model.gguf"] if warm is not None else ["true"]
    script = f"""set -e
cp {model} /scratch/model.gguf
sync
{asked.nodewise} drop-cache --quiet /scratch/model.gguf
taskset -c 0 cat /scratch/model.gguf > /dev/null
{" ".join(words)}
exec {python} -B {HERE} --evaluate /scratch/model.gguf {numa} {threads} {asked.tokens}
"""
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        counts = pathlib.Path(folder) / "counts.json"
        begin = time.perf_counter()
        done = subprocess.run(
            ["nice", "-n", "10", asked.nodewise, "run", "--on", f"lab:{machine}", "--on-disk", "128M", "--on-counts",
             counts, *(() if "--bind" in options else ("--bind", "close")), "--threads", str(threads), *options, "--",
             "sh", "-c", script],
            cwd=folder, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        made = [line for line in done.stdout.splitlines() if line.startswith("made ")]
        if done.returncode != 0 or not made:
            raise SystemExit(f"{name}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        document = json.loads(counts.read_text())
    row = {"machine": machine, "case": name, "numa": numa, "threads": threads, "warm": warm, "run": options,
           "made": made[0][5:], "seconds": round(seconds, 1), **shares(document)}
    print(f"{machine:4} {name:46} weights {row['weights_remote']:6.1%}  dot products {row['dot_product_remote']:6.1%}  "
          f"imbalance {row['imbalance']:.2f}  all {row['remote']:6.1%}  {seconds:4.0f} s  {row['made']}", flush=True)
    return row


def shares(document):
    def remote(of):
        lines = of["local_lines"] + of["remote_lines"]
        return round(of["remote_lines"] / lines, 4) if lines else 0.0

    files = [each for each in document["sites"] if each["kind"] == "file" and each["name"].endswith(".gguf")]
    others = [each for each in document["sites"] if each["kind"] == "other"]
    weights = max(files or others, key=lambda each: each["use"]["local_lines"] + each["use"]["remote_lines"])
    by_memory = {}
    for flow in weights["use"]["flows"]:
        by_memory[flow["to"]] = by_memory.get(flow["to"], 0) + flow["fills"]
    nodes = {flow["from"] for flow in document["matrix"] if flow["from"] is not None}
    dots = [each for each in document["lines"] if each.get("function") == "ggml_vec_dot_f16"]
    return {"remote": remote(document["use"]), "weights_row": "file" if files else "memory outside known arrays",
            "weights_remote": remote(weights["use"]),
            "weights_lines": weights["use"]["local_lines"] + weights["use"]["remote_lines"],
            "imbalance": round(max(by_memory.values()) * len(nodes) / sum(by_memory.values()), 2),
            "dot_product_remote": remote_of_lines(dots)}


def remote_of_lines(lines):
    near = sum(each["use"]["local_lines"] for each in lines)
    far = sum(each["use"]["remote_lines"] for each in lines)
    return round(far / (near + far), 4) if near + far else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise")
    parser.add_argument("--machine", action="append", help="default: 4x2 and 2x4")
    parser.add_argument("--case", action="append", help="only cases whose names have this in them")
    parser.add_argument("--tokens", type=int, default=4)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("~/.cache/nodewise-llama").expanduser(),
                        help="for llama.cpp and the model (default: %(default)s)")
    parser.add_argument("--output")
    parser.add_argument("--write-model", help=argparse.SUPPRESS)
    parser.add_argument("--evaluate", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.write_model:
        write_model(asked.write_model)
        return
    if asked.evaluate:
        path, *numbers = asked.evaluate
        evaluate(path, *map(int, numbers))
        return

    if not asked.nodewise:
        parser.error("--nodewise is missing")
    asked.nodewise = os.path.abspath(asked.nodewise)
    description = describe_machine()
    asked.folder.mkdir(parents=True, exist_ok=True)
    python, model = prepare(asked.folder)
    rows = [run_case(asked, machine, python, model, case) for machine in asked.machine or ("4x2", "2x4")
            for case in CASES if not asked.case or any(each in case[0] for each in asked.case)]
    same = len({row["made"] for row in rows}) == 1
    if asked.output:
        pathlib.Path(asked.output).write_text(json.dumps({
            "schema": "nodewise/bench-llama/1", "machine": description, "llama_cpp_python": VERSION, "build": BUILD,
            "model_bytes": model.stat().st_size, "prompt_tokens": len(PROMPT), "tokens": asked.tokens,
            "same_output": same, "results": rows}, indent=2) + "\n")
    if not same:
        raise SystemExit("the outputs differ")


if __name__ == "__main__":
    main()
