"""Trains the network on what `generate.py training` made and writes model.onnx and tokens.txt.

    train.py --data DIR --out models/demonstration --epochs 12
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from sentences import WORDS

CLASSES = len(WORDS) + 2  # blank, words, pause
BINS = 80
# The loudest part of a recording is 0. What lies 9 nepers below (39 dB) is silence; what is quieter than LEVEL_FLOOR is not speech.
RANGE, LEVEL_FLOOR = 9.0, -6.0
FRAME_SECONDS = 0.04


# --- network ---------------------------------------------------------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.convolution = nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation, bias=False)
        self.normalisation = nn.BatchNorm1d(width)

    def forward(self, x):
        return functional.relu(x + self.normalisation(self.convolution(x)))


class Network(nn.Module):
    """Two strided convolutions to frames of 40 ms, then residual convolutions that see 1.2 s before and behind a frame."""

    def __init__(self, narrow=128, width=192):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(BINS, narrow, 5, 2, padding=2, bias=False), nn.BatchNorm1d(narrow), nn.ReLU(),
            nn.Conv1d(narrow, width, 5, 2, padding=2, bias=False), nn.BatchNorm1d(width), nn.ReLU(),
            Block(width, 1), Block(width, 2), Block(width, 4), Block(width, 8), nn.Dropout(0.15), nn.Conv1d(width, CLASSES, 1),
        )  # fmt: skip

    def forward(self, x):
        return torch.log_softmax(self.body(x.transpose(1, 2)).transpose(1, 2), -1)


def level_of(x):
    """Of the loudest frame: what a recording is measured against. Independent of its gain and of how much silence it has."""
    return torch.clamp(x.mean(-1, keepdim=True).amax(1, keepdim=True), min=LEVEL_FLOOR)


def scaled(x):
    return (torch.clamp(x, min=-RANGE) + RANGE / 2) / 3


class Recogniser(nn.Module):
    """What is exported: the engine's features in, log probabilities out."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, x_lens):
        return self.network(scaled(x - level_of(x))), (x_lens + 3) // 4


# --- data ------------------------------------------------------------------------------------------------------------------------


def load(folder):
    """(frames, tokens, seconds) for each recording."""
    items = []
    for path in sorted(Path(folder).glob("chunk-*.npz")):
        chunk = np.load(path)
        frame_ends, token_ends = np.cumsum(chunk["frame_counts"]), np.cumsum(chunk["token_counts"])
        frames, tokens, seconds = chunk["frames"], chunk["tokens"], chunk["seconds"]
        for index, (frame_end, token_end) in enumerate(zip(frame_ends, token_ends)):
            first, begin = frame_end - chunk["frame_counts"][index], token_end - chunk["token_counts"][index]
            if frame_end - first < 1400:
                items.append((frames[first:frame_end], tokens[begin:token_end], seconds[begin:token_end]))
    return items


def _warp(alpha):
    """Moves the mel axis, as a shorter or longer vocal tract does."""
    source = np.clip(np.arange(BINS) * alpha, 0, BINS - 1)
    low = np.floor(source).astype(int)
    matrix = np.zeros((BINS, BINS), np.float32)
    matrix[low, np.arange(BINS)] += 1 - (source - low)
    matrix[np.minimum(low + 1, BINS - 1), np.arange(BINS)] += source - low
    return matrix


WARPS = [_warp(alpha) for alpha in np.linspace(0.84, 1.16, 17)]


def varied(frames, rng):
    """Another speaker and room from the same recording: cheap changes that need no samples."""
    x = frames.astype(np.float32)
    if rng.random() < 0.7:
        x = x @ WARPS[rng.integers(len(WARPS))]
    if rng.random() < 0.6:
        knots = rng.uniform(-1.2, 1.2, 5)
        x = x + np.interp(np.arange(BINS), np.linspace(0, BINS - 1, 5), knots).astype(np.float32)
    level = max(float(x.mean(1).max()), LEVEL_FLOOR)
    if rng.random() < 0.4:
        noise = level - rng.uniform(3.5, 9) + np.interp(np.arange(BINS), np.linspace(0, BINS - 1, 4), rng.uniform(-1.5, 1.5, 4))
        x = np.logaddexp(x, noise + np.log(rng.exponential(1, x.shape) + 1e-4)).astype(np.float32)
    x = x - level
    if rng.random() < 0.3:
        x = x - rng.uniform(0, 2.5)
    for _ in range(rng.integers(0, 3)):
        width, low = rng.integers(1, 10), rng.integers(0, BINS - 10)
        x[:, low : low + width] = x.mean()
    if rng.random() < 0.4 and len(x) > 40:
        start = rng.integers(0, len(x) - 12)
        x[start : start + rng.integers(2, 10)] = -RANGE
    return x


def batch(items, rng, tolerance):
    frames = [varied(x, rng) for x, _, _ in items]
    longest = max(len(x) for x in frames)
    inputs = np.full((len(items), longest, BINS), -RANGE, np.float32)
    steps = (longest + 3) // 4
    # 0 where a token may be emitted, strongly negative elsewhere: times come out as they were generated.
    allowed = np.full((len(items), steps, CLASSES), -12, np.float32)
    allowed[:, :, 0] = 0
    for index, (x, (_, tokens, seconds)) in enumerate(zip(frames, items)):
        inputs[index, : len(x)] = x
        for token, second in zip(tokens, seconds):
            centre = second / FRAME_SECONDS
            first, last = math.ceil(centre - tolerance), math.floor(centre + tolerance)
            allowed[index, max(0, first) : max(0, last) + 1, token] = 0
    lengths = torch.tensor([(len(x) + 3) // 4 for x in frames])
    targets = torch.tensor(np.concatenate([tokens for _, tokens, _ in items]))
    counts = torch.tensor([len(tokens) for _, tokens, _ in items])
    return scaled(torch.from_numpy(inputs)), torch.from_numpy(allowed), lengths, targets, counts


# --- scoring ---------------------------------------------------------------------------------------------------------------------


def greedy(log_probabilities):
    best = log_probabilities.argmax(-1).tolist()
    return [token for previous, token in zip([0] + best, best) if token not in (0, previous)]


def distance(reference, hypothesis):
    row = list(range(len(hypothesis) + 1))
    for i, wanted in enumerate(reference, 1):
        before, row = row, [i]
        for j, heard in enumerate(hypothesis, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (wanted != heard)))
    return row[-1]


def error_rate(network, items):
    network.eval()
    recogniser = Recogniser(network)
    pause, errors, total = CLASSES - 1, 0, 0
    with torch.no_grad():
        for frames, tokens, _ in items:
            heard = greedy(recogniser(torch.from_numpy(frames.astype(np.float32))[None], torch.tensor([len(frames)]))[0][0])
            wanted = [token for token in tokens.tolist() if token != pause]
            errors += distance(wanted, [token for token in heard if token != pause])
            total += len(wanted)
    network.train()
    return errors / total


# --- training --------------------------------------------------------------------------------------------------------------------


def train(data, epochs, size, seed, learning_rate=4e-3, resume=None):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    items = load(Path(data) / "training")
    # The last recordings are new sentences by heard voices: they only show how far training is.
    items, watched = items[:-150], items[-150:]
    network = Network()
    if resume is not None:
        network.load_state_dict(torch.load(resume))
    parameters = sum(parameter.numel() for parameter in network.parameters())
    print(f"{len(items)} recordings, {sum(len(x) for x, _, _ in items) / 360_000:.2f} h, {parameters} parameters", flush=True)
    order = np.argsort([len(x) for x, _, _ in items])
    groups = [order[start : start + size] for start in range(0, len(order) - size + 1, size)]
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, epochs * len(groups) + 1, pct_start=0.2)
    loss_of = nn.CTCLoss(zero_infinity=True)
    # A moving average of the weights makes fewer mistakes than the weights of any single step.
    average = {name: value.clone() for name, value in network.state_dict().items()}
    started = time.time()
    for epoch in range(epochs):
        total = 0.0
        # Wide at first, then one frame around the true one.
        tolerance = 2.5 if epoch == 0 and resume is None else 1.2
        for group in rng.permutation(len(groups)):
            x, allowed, lengths, targets, counts = batch([items[index] for index in groups[group]], rng, tolerance)
            loss = loss_of((network(x) + allowed).transpose(0, 1), targets, lengths, counts)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5)
            optimizer.step()
            schedule.step()
            for name, value in network.state_dict().items():
                if value.is_floating_point():
                    average[name].lerp_(value, 0.005)
            total += loss.item()
        cpu = time.process_time()
        print(f"epoch {epoch + 1}: loss {total / len(groups):.3f}, word errors {error_rate(network, watched):.3f}, "
              f"{time.time() - started:.0f} s, {cpu:.0f} s of CPU", flush=True)  # fmt: skip
    network.load_state_dict(average)
    print(f"averaged: word errors {error_rate(network, watched):.3f}", flush=True)
    return network.eval()


def export(network, out):
    """ONNX with weights as 16-bit floats, half the size; the engine widens them once when it loads the file."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    path = str(Path(out) / "model.onnx")
    torch.onnx.export(
        Recogniser(network), (torch.randn(1, 100, BINS), torch.tensor([100])), path,
        input_names=["x", "x_lens"], output_names=["log_probs", "log_probs_len"], opset_version=13,
        dynamic_axes={"x": {0: "N", 1: "T"}, "x_lens": {0: "N"}, "log_probs": {0: "N", 1: "T4"}, "log_probs_len": {0: "N"}},
    )  # fmt: skip
    model = onnx.load(path)
    graph = model.graph
    for tensor in list(graph.initializer):
        if tensor.data_type != TensorProto.FLOAT or len(tensor.dims) < 2:
            continue
        narrow = numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name + "_16")
        graph.initializer.remove(tensor)
        graph.initializer.append(narrow)
        graph.node.insert(0, helper.make_node("Cast", [narrow.name], [tensor.name], to=TensorProto.FLOAT))
    onnx.checker.check_model(model)
    onnx.save(model, path)
    symbols = ["<blk>", *("▁" + word for word in WORDS), "▁"]
    (Path(out) / "tokens.txt").write_text("".join(f"{symbol} {index}\n" for index, symbol in enumerate(symbols)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=4e-3)
    parser.add_argument("--resume", help="state of an earlier run, for another cycle")
    parser.add_argument("--state", default="network.pt", help="where the state is saved")
    arguments = parser.parse_args()
    network = train(arguments.data, arguments.epochs, arguments.batch, arguments.seed, arguments.learning_rate, arguments.resume)
    torch.save(network.state_dict(), arguments.state)
    export(network, arguments.out)


if __name__ == "__main__":
    main()
