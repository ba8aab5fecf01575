"""Writes manifest.json: the files of the model with their checksums, and the recordings that it may be asked to recognise.

manifest.py [--check]
"""

import hashlib
import json
import sys

from sentences import MODEL, WORDS

SAMPLES = ("sandbox/samples/dialogue.mp3",)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def manifest():
    files = [MODEL / name for name in ("model.onnx", "tokens.txt")]
    return {
        "name": "demonstration-en",
        "language": "en",
        "licence": "Apache-2.0",
        "engine": "zipformerCtc",
        "engineVersion": "1.13.8",
        "decodingMethod": "greedy_search",
        "sampleRate": 16000,
        "words": len(WORDS),
        "files": [{"path": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)} for path in files],
        "sampleSha256": [sha256(MODEL.parent.parent / sample) for sample in SAMPLES],
    }


def main():
    text = json.dumps(manifest(), indent=2) + "\n"
    path = MODEL / "manifest.json"
    if "--check" in sys.argv:
        sys.exit(0 if path.read_text() == text else "manifest.json is out of date: run manifest.py")
    path.write_text(text)


if __name__ == "__main__":
    main()
