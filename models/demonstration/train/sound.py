"""Sound as the network hears it: resampling, rooms, noise, codecs, and the 80 log-mel energies that the engine computes."""

import subprocess
from math import gcd

import numpy as np
from scipy.signal import fftconvolve, lfilter, resample_poly

RATE = 16_000
BINS = 80
FRAME = 160  # 10 ms


def to_rate(samples, rate, speed=1.0):
    """At 16 kHz. A speed other than 1 shifts pitch and formants with it, like a tape."""
    target = int(round(RATE / speed / 50)) * 50
    if target == rate:
        return samples, 1.0
    divisor = gcd(target, rate)
    return resample_poly(samples, target // divisor, rate // divisor).astype(np.float32), target / RATE


# --- degradation -----------------------------------------------------------------------------------------------------------------

CODECS = {
    "mp3-16": ["-c:a", "libmp3lame", "-b:a", "16k", "-f", "mp3"],
    "mp3-32": ["-c:a", "libmp3lame", "-b:a", "32k", "-f", "mp3"],
    "mp3-48": ["-ar", "24000", "-c:a", "libmp3lame", "-b:a", "48k", "-f", "mp3"],
    "opus-12": ["-c:a", "libopus", "-b:a", "12k", "-f", "webm"],
    "opus-24": ["-c:a", "libopus", "-b:a", "24k", "-f", "webm"],
    "aac-32": ["-c:a", "aac", "-b:a", "32k", "-f", "adts"],
    "telephone": ["-ar", "8000", "-c:a", "pcm_mulaw", "-f", "wav"],
}
DEMUXERS = {"mp3": "mp3", "webm": "matroska", "adts": "aac", "wav": "wav"}


def through_codec(samples, codec):
    arguments = CODECS[codec]
    ffmpeg = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-threads", "1"]
    raw = ["-f", "s16le", "-ar", str(RATE), "-ac", "1"]
    pcm = (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    encoded = subprocess.run([*ffmpeg, *raw, "-i", "pipe:0", *arguments, "pipe:1"], input=pcm, capture_output=True, check=True).stdout
    demuxer = DEMUXERS[arguments[-1]]
    decoded = subprocess.run([*ffmpeg, "-f", demuxer, "-i", "pipe:0", *raw, "pipe:1"], input=encoded, capture_output=True, check=True).stdout
    result = np.frombuffer(decoded, "<i2").astype(np.float32) / 32768
    # A pipe has no place for the encoder's delay. It is found again, so that the words' times stay true.
    delay = _delay(samples, result)
    result = result[delay:] if delay >= 0 else np.concatenate([np.zeros(-delay, np.float32), result])
    return np.pad(result, (0, max(0, len(samples) - len(result))))[: len(samples)]


def _delay(reference, other, limit=4000):
    length = min(len(reference), len(other), 20 * RATE)
    spectrum = np.fft.rfft(other[:length], 2 * length) * np.conj(np.fft.rfft(reference[:length], 2 * length))
    correlation = np.fft.irfft(spectrum)
    around = np.concatenate([correlation[-limit:], correlation[: limit + 1]])
    return int(np.argmax(around)) - limit


def in_a_room(samples, rng):
    length = int(RATE * rng.uniform(0.05, 0.35))
    response = rng.standard_normal(length).astype(np.float32) * np.exp(-np.arange(length) * rng.uniform(5, 9) / length).astype(np.float32)
    response *= rng.uniform(0.05, 0.5) / np.sqrt(np.sum(response**2))
    response[0] = 1
    return fftconvolve(samples, response)[: len(samples)].astype(np.float32)


def coloured_noise(length, rng):
    noise = rng.standard_normal(length).astype(np.float32)
    kind = rng.integers(4)
    if kind == 1:
        noise = lfilter([1], [1, -rng.uniform(0.6, 0.97)], noise)
    elif kind == 2:
        noise = np.convolve(noise, [1, -rng.uniform(0.3, 0.9)])[:length]
    elif kind == 3:
        hum = rng.choice([50, 60, 120, 400])
        time = np.arange(length) / RATE
        noise = 0.3 * noise + sum(np.sin(2 * np.pi * hum * k * time + rng.uniform(0, 6)) / k for k in range(1, 5))
    return (noise / (np.std(noise) + 1e-9)).astype(np.float32)


def degraded(samples, rng):
    """A recording as somebody might have made it: another microphone, room, noise, level."""
    if rng.random() < 0.3:
        samples = in_a_room(samples, rng)
    if rng.random() < 0.5:
        samples = lfilter([1, -rng.uniform(-0.7, 0.7)], [1], samples).astype(np.float32)
    level = np.sqrt(np.mean(samples**2)) + 1e-6
    if rng.random() < 0.75:
        samples = samples + coloured_noise(len(samples), rng) * level * 10 ** (-rng.uniform(8, 45) / 20)
    samples = samples * (10 ** rng.uniform(-1.5, -0.02) / (np.max(np.abs(samples)) + 1e-6))
    if rng.random() < 0.05:
        samples = np.clip(samples * 3, -0.9, 0.9)
    return samples.astype(np.float32)


# --- features --------------------------------------------------------------------------------------------------------------------


def _mel(frequency):
    return 1127 * np.log(1 + np.asarray(frequency) / 700)


def _banks(low=20, high=7600, size=512):
    low, high = _mel(low), _mel(high)
    step = (high - low) / (BINS + 1)
    bins = _mel(np.arange(size // 2) * RATE / size)
    banks = np.zeros((BINS, size // 2 + 1), np.float32)
    for index in range(BINS):
        left, centre, right = low + index * step, low + (index + 1) * step, low + (index + 2) * step
        weight = np.where(bins <= centre, (bins - left) / (centre - left), (right - bins) / (right - centre))
        banks[index, : size // 2] = np.where((bins > left) & (bins < right), weight, 0)
    return banks


BANKS = _banks()
WINDOW = ((0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 399)) ** 0.85).astype(np.float32)


def features(samples):
    """Log-mel energies of Kaldi's kind, as sherpa-onnx computes them: 25 ms every 10 ms, frames centred, edges mirrored."""
    count = (len(samples) + FRAME // 2) // FRAME
    index = np.arange(400)[None] + np.arange(count)[:, None] * FRAME - (200 - FRAME // 2)
    index = np.where(index < 0, -index - 1, index)
    index = np.where(index >= len(samples), 2 * len(samples) - 1 - index, index)
    frames = samples[np.clip(index, 0, len(samples) - 1)].astype(np.float32)
    frames -= frames.mean(1, keepdims=True)
    emphasised = frames.copy()
    emphasised[:, 1:] -= 0.97 * frames[:, :-1]
    emphasised[:, 0] -= 0.97 * frames[:, 0]
    power = np.abs(np.fft.rfft(emphasised * WINDOW, 512)).astype(np.float32) ** 2
    return np.log(np.maximum(power @ BANKS.T, 1.19e-7)).astype(np.float32)
