"""Makes spoken sentences with known word times.

    generate.py training  --out DIR   features for train.py
    generate.py heldout   --out DIR   recordings for evaluate.mjs, by group of voices
    generate.py sentences --out DIR   recordings for tests: WAV files and truth.json
    generate.py sample    --out FILE  words, times and speakers of sandbox/samples/dialogue.mp3

The same seed makes the same files, with any number of workers: espeak-ng keeps state from one recording to the next, so each
hundred starts with a new process.
"""

import argparse
import json
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.io import wavfile

import sound
import voices
from sentences import WORDS, sentence, unknown_words, words_of

TOKEN = {word: index + 1 for index, word in enumerate(WORDS)}
PAUSE = len(WORDS) + 1
# Shorter gaps are the closure of a consonant rather than a pause.
PAUSE_SECONDS = 0.08
CHUNK = 100
# The first recordings are mostly of espeak-ng, which has by far the most voices; those after them mostly of flite.
# The last ones are the plain British and American voices that most recordings of tests are made with.
FIRST_PART, SECOND_PART = 7000, 9500
FLITE_SHARE, FLITE_SHARE_LATER = 0.3, 0.65
PLAIN_ACCENTS, PLAIN_VARIANTS = ("en-gb", "en-us"), ("", "", "f3", "m1", "m3", "f1", "f2", "m7")


# --- one recording ---------------------------------------------------------------------------------------------------------------


def espeak_utterance(rng, variants, accents=voices.ESPEAK_ACCENTS):
    while True:
        accent = str(rng.choice(accents))
        variant = str(rng.choice(variants))
        pitch, rate, pitch_range = int(rng.integers(15, 86)), int(rng.integers(110, 201)), int(rng.integers(20, 81))
        if voices.near_a_sample(accent, variant, pitch, rate):
            continue
        spoken = sentence(rng)
        try:
            samples, sample_rate, times = voices.espeak().speak(spoken.replace("i ", "I "), accent, variant, pitch, rate, pitch_range)
        except voices.Unspeakable:
            continue
        return spoken, samples, sample_rate, times, f"espeak-ng {accent}{'+' if variant else ''}{variant} -p {pitch} -s {rate} range {pitch_range}"


def flite_utterance(rng, names):
    while True:
        name = str(rng.choice(names))
        stretch, pitch = rng.uniform(0.8, 1.35), rng.uniform(75, 190)
        spoken = sentence(rng)
        try:
            samples, rate, times = voices.flite().speak(spoken, name, stretch, pitch)
        except voices.Unspeakable:
            continue
        return spoken, samples, rate, times, f"flite {name} stretch {stretch:.2f}"


def at_16k(utterance, rng, speeds=None):
    spoken, samples, rate, times, voice = utterance
    samples, factor = sound.to_rate(samples, rate, 1.0 if speeds is None else rng.uniform(*speeds))
    samples = samples / (np.max(np.abs(samples)) + 1e-6) * 0.8
    return samples, [(word, begin * factor, end * factor) for word, (begin, end) in zip(words_of(spoken), times, strict=True)], voice


def joined(parts, rng, pause=(0.1, 0.8)):
    """Several utterances in a row with pauses between them."""
    pieces, words, offset = [], [], 0
    for index, (samples, times, _) in enumerate(parts):
        if index > 0:
            gap = int(rng.uniform(*pause) * sound.RATE)
            pieces.append(np.zeros(gap, np.float32))
            offset += gap
        words += [(word, begin + offset / sound.RATE, end + offset / sound.RATE) for word, begin, end in times]
        pieces.append(samples)
        offset += len(samples)
    return np.concatenate(pieces), words


def training_utterance(seed, index):
    """Samples, words with their times, and the codec that the recording goes through."""
    rng = np.random.default_rng([seed, index])
    if rng.random() < 0.02:
        noise = sound.coloured_noise(int(rng.uniform(0.5, 3) * sound.RATE), rng) * 10 ** rng.uniform(-4, -0.7)
        return noise, [], None
    parts = []
    espeak_share = 1 - (FLITE_SHARE if index < FIRST_PART else FLITE_SHARE_LATER)
    for _ in range(2 if rng.random() < 0.2 else 1):
        if index >= SECOND_PART:
            one = espeak_utterance(rng, PLAIN_VARIANTS, PLAIN_ACCENTS)
        elif rng.random() < espeak_share:
            one = espeak_utterance(rng, voices.ESPEAK_HEARD)
        else:
            one = flite_utterance(rng, voices.FLITE_HEARD)
        samples, words, voice = at_16k(one, rng, (0.86, 1.16) if rng.random() < 0.6 else None)
        parts.append((samples * rng.uniform(0.4, 1), words, voice))
    samples, words = joined(parts, rng)
    before, after = (int(rng.uniform(0, 0.6) * sound.RATE) for _ in range(2))
    samples = np.pad(samples, (before, after))
    words = [(word, begin + before / sound.RATE, end + before / sound.RATE) for word, begin, end in words]
    if rng.random() < 0.65:
        samples = sound.degraded(samples, rng)
    codec = str(rng.choice(list(sound.CODECS))) if rng.random() < 0.3 else None
    return samples, words, codec


def labels(words):
    """(token, second) pairs: each word where it begins, and a pause where speech ends for a while."""
    result = []
    for index, (word, begin, end) in enumerate(words):
        result.append((TOKEN[word], begin))
        following = words[index + 1][1] if index + 1 < len(words) else float("inf")
        if following - end >= PAUSE_SECONDS:
            result.append((PAUSE, end))
    return result


# --- training data ---------------------------------------------------------------------------------------------------------------


def training_chunk(arguments):
    seed, chunk, out = arguments
    path = Path(out) / f"chunk-{chunk:04}.npz"
    if path.exists():
        return 0
    made = [training_utterance(seed, chunk * CHUNK + index) for index in range(CHUNK)]
    # One call of ffmpeg for all recordings of a codec instead of one for each.
    for codec in sound.CODECS:
        chosen = [index for index, (_, _, its) in enumerate(made) if its == codec]
        if not chosen:
            continue
        gap = np.zeros(sound.RATE // 2, np.float32)
        decoded = sound.through_codec(np.concatenate([part for index in chosen for part in (made[index][0], gap)]), codec)
        offset = 0
        for index in chosen:
            samples, words, _ = made[index]
            made[index] = (decoded[offset : offset + len(samples)], words, codec)
            offset += len(samples) + len(gap)
    frames = [sound.features(np.clip(samples, -1, 1)).astype(np.float16) for samples, _, _ in made]
    tokens = [labels(words) for _, words, _ in made]
    np.savez(
        path,
        frames=np.concatenate(frames),
        frame_counts=np.array([len(each) for each in frames]),
        tokens=np.array([token for each in tokens for token, _ in each], np.int64),
        seconds=np.array([second for each in tokens for _, second in each], np.float32),
        token_counts=np.array([len(each) for each in tokens]),
    )
    return sum(len(each) for each in frames) / 100


def training(out, count, seed, workers):
    out = Path(out) / "training"
    out.mkdir(parents=True, exist_ok=True)
    started, seconds = time.time(), 0
    with Pool(workers, maxtasksperchild=1) as pool:
        for done, audio in enumerate(pool.imap_unordered(training_chunk, [(seed, chunk, out) for chunk in range(count // CHUNK)])):
            seconds += audio
            print(f"{(done + 1) * CHUNK} recordings, {seconds / 3600:.2f} h of audio, {time.time() - started:.0f} s", flush=True)


# --- recordings ------------------------------------------------------------------------------------------------------------------


def write(folder, entries, codec_rng=None):
    folder.mkdir(parents=True, exist_ok=True)
    truth = []
    for index, (samples, words, voice) in enumerate(entries):
        samples = np.pad(samples, (int(0.2 * sound.RATE), int(0.2 * sound.RATE)))
        words = [(word, begin + 0.2, end + 0.2) for word, begin, end in words]
        if codec_rng is not None:
            samples = sound.degraded(samples, codec_rng)
            if codec_rng.random() < 0.5:
                samples = sound.through_codec(samples, str(codec_rng.choice(list(sound.CODECS))))
        name = f"{index:03}.wav"
        wavfile.write(folder / name, sound.RATE, (np.clip(samples, -1, 1) * 32767).astype(np.int16))
        truth.append({
            "file": name,
            "voice": voice,
            "seconds": round(len(samples) / sound.RATE, 3),
            "text": " ".join(word for word, _, _ in words),
            "words": [{"text": word, "start": round(begin, 3), "end": round(end, 3)} for word, begin, end in words],
        })  # fmt: skip
    lines = ",\n".join(json.dumps(entry) for entry in truth)
    (folder / "truth.json").write_text(f"[\n{lines}\n]\n")


def heldout(out, count, seed):
    out = Path(out) / "heldout"

    def rng_of(group):
        return np.random.default_rng([seed, 1_000_000, group])

    def espeak_group(group, variants):
        rng = rng_of(group)
        return [at_16k(espeak_utterance(rng, variants), rng) for _ in range(count)]

    def flite_group(group, names):
        rng = rng_of(group)
        return [at_16k(flite_utterance(rng, names), rng) for _ in range(count)]

    def festival_group(group, names):
        rng = rng_of(group)
        for name in names:
            for one in voices.festival([sentence(rng) for _ in range(count // len(names))], name):
                yield at_16k((*one, f"festival {name}"), rng)

    write(out / "heard-espeak", espeak_group(1, voices.ESPEAK_HEARD))
    write(out / "heard-flite", flite_group(2, voices.FLITE_HEARD))
    write(out / "unheard-espeak", espeak_group(3, voices.ESPEAK_UNHEARD))
    write(out / "unheard-espeak-degraded", espeak_group(4, voices.ESPEAK_UNHEARD), rng_of(40))
    write(out / "unheard-flite", flite_group(5, voices.FLITE_UNHEARD))
    write(out / "unheard-festival", festival_group(6, voices.FESTIVAL_UNHEARD))
    write(out / "other-engine-festival", festival_group(7, voices.FESTIVAL_OTHER_ENGINE))


def test_sentences(out, count, seed):
    rng = np.random.default_rng([seed, 2_000_000])
    write(Path(out), [at_16k(espeak_utterance(rng, voices.ESPEAK_HEARD[:12]), rng) for _ in range(count)])


# --- the bundled sample ----------------------------------------------------------------------------------------------------------

# As in sandbox/samples/make-sample.sh.
SAMPLE_LINES = (
    (0, "en-gb", "", 35, "Good morning, this is the harbour office. How can I help?"),
    (1, "en-us", "f3", 60, "Hello. Can I move my boat to pier seven?"),
    (0, "en-gb", "", 35, "Pier seven is free from ten. For how long?"),
    (1, "en-us", "f3", 60, "Two nights, please. Thank you."),
)


def sample(out):
    offset, words = 0.0, []
    for speaker, accent, variant, pitch, text in SAMPLE_LINES:
        samples, rate, times = voices.espeak().speak(text, accent, variant, pitch, 155, end_pause=True)
        for spoken, (begin, end) in zip(text.split(), times, strict=True):
            words.append({"text": spoken, "start": round(offset + begin, 2), "end": round(offset + end, 2), "speaker": speaker})
        offset += len(samples) / rate + 0.25
    lines = ",\n    ".join(f"{{ {json.dumps(word)[1:-1]} }}" for word in words)
    Path(out).write_text(f'{{\n  "file": "dialogue.mp3",\n  "seconds": {offset:.2f},\n  "words": [\n    {lines}\n  ]\n}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["training", "heldout", "sentences", "sample"])
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    assert not unknown_words(), unknown_words()
    if arguments.what == "training":
        training(arguments.out, arguments.count or 10_300, arguments.seed, arguments.workers)
    elif arguments.what == "heldout":
        heldout(arguments.out, arguments.count or 120, arguments.seed)
    elif arguments.what == "sentences":
        test_sentences(arguments.out, arguments.count or 20, arguments.seed)
    else:
        sample(arguments.out)


if __name__ == "__main__":
    main()
