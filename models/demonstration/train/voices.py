"""Speech with the time of every word, from three synthesizers of Debian: espeak-ng and flite as libraries, festival as a program."""

import ctypes
import subprocess
import tempfile
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_float, c_int, c_short, c_uint, c_void_p
from functools import lru_cache
from pathlib import Path

import numpy as np

from sentences import words_of

ESPEAK_ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-us-nyc", "en-029", "en-gb-x-gbclan", "en-gb-x-gbcwmd")
ESPEAK_HEARD = (
    "", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "f1", "f2", "f3", "f4", "Andy", "Annie", "Denis", "Lee", "Mario", "Michael",
    "Storm", "Alex", "belinda", "linda", "adam", "boris", "anika", "aunty", "david", "edward", "Henrique", "iven", "Jacky",
    "john", "max", "norbert", "pablo", "paul", "quincy", "rob", "travis", "victor", "zac", "Diogo", "marcelo", "pedro",
    "Andrea", "Hugo", "Marco", "Mike", "antonio", "caleb", "gustave", "sandro", "michel", "announcer", "klatt", "klatt3",
)  # fmt: skip
# Never in training, in no accent: fifteen timbres of espeak-ng, one voice of flite, one of festival.
ESPEAK_UNHEARD = (
    "m8", "f5", "steph", "steph2", "steph3", "kaukovalta", "benjamin", "Alicia", "grandma", "grandpa", "robert", "shelby", "Gene",
    "ed", "miguel",
)  # fmt: skip
FLITE_HEARD = ("kal16", "awb", "slt")
FLITE_UNHEARD = ("rms",)
FESTIVAL_UNHEARD = ("ked_diphone",)
# The same person as flite's slt, spoken by another engine.
FESTIVAL_OTHER_ENGINE = ("cmu_us_slt_arctic_hts",)

# The two voices of sandbox/samples/dialogue.mp3 and the one of test/fixtures/audio: excluded at a pitch and a rate near theirs.
SAMPLE_SETTINGS = (("en-gb", "", 35, 155), ("en-us", "f3", 60, 155), ("en-gb", "", 50, 150))

# How American synthesizers have to read words that their lexicon lacks.
RESPELLED = {"harbour": "harbor", "patchbay": "patch-bay"}


class Unspeakable(Exception):
    """The synthesizer gave no time for some word, because it read two words as one."""


def near_a_sample(accent, variant, pitch, rate):
    return any(
        (accent, variant) == (sample_accent, sample_variant) and abs(pitch - sample_pitch) < 6 and abs(rate - sample_rate) < 10
        for sample_accent, sample_variant, sample_pitch, sample_rate in SAMPLE_SETTINGS
    )


# --- espeak-ng -------------------------------------------------------------------------------------------------------------------


class _Event(Structure):
    _fields_ = [
        ("type", c_int), ("identifier", c_uint), ("text_position", c_int), ("length", c_int), ("audio_position", c_int),
        ("sample", c_int), ("user_data", c_void_p), ("name", ctypes.c_char * 8),
    ]  # fmt: skip


_CALLBACK = CFUNCTYPE(c_int, POINTER(c_short), c_int, POINTER(_Event))
_WORD, _PHONEME, _LIST_END = 1, 7, 0
_SYNCHRONOUS, _PHONEME_EVENTS = 2, 1
_RATE, _PITCH, _RANGE = 1, 3, 4
_UTF8, _END_PAUSE = 1, 0x1000


class Espeak:
    """One per process: the library has global state."""

    def __init__(self):
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.rate = self.library.espeak_Initialize(_SYNCHRONOUS, 0, None, _PHONEME_EVENTS)
        self.pieces, self.events = [], []
        self.callback = _CALLBACK(self._receive)
        self.library.espeak_SetSynthCallback(self.callback)

    def _receive(self, samples, count, events):
        if count > 0 and samples:
            self.pieces.append(np.ctypeslib.as_array(samples, (count,)).copy())
        index = 0
        while events[index].type != _LIST_END:
            event = events[index]
            self.events.append((event.type, event.text_position, event.audio_position / 1000, event.name.decode("utf-8", "replace")))
            index += 1
        return 0

    def speak(self, text, accent, variant, pitch, rate, pitch_range=50, end_pause=False):
        # The library knows British English as "en" only.
        name = ("en" if accent == "en-gb" else accent) + ("+" + variant if variant else "")
        if self.library.espeak_SetVoiceByName(name.encode()) != 0:
            raise ValueError(f"espeak-ng has no voice {name}")
        for parameter, value in ((_RATE, rate), (_PITCH, pitch), (_RANGE, pitch_range)):
            self.library.espeak_SetParameter(parameter, int(value), 0)
        self.pieces, self.events = [], []
        content = text.encode() + b"\0"
        self.library.espeak_Synth(content, len(content), 0, 1, 0, _UTF8 | (_END_PAUSE if end_pause else 0), None, None)
        samples = np.concatenate(self.pieces).astype(np.float32) / 32768
        return samples, self.rate, self._word_times(text, len(samples) / self.rate)

    def _word_times(self, text, seconds):
        starts = {}
        offset = 0
        spans = []
        for word in text.split():
            begin = text.index(word, offset)
            offset = begin + len(word)
            spans.append((begin, offset))
        for kind, position, time, _ in self.events:
            if kind != _WORD:
                continue
            word = next((index for index, (begin, end) in enumerate(spans) if begin <= position - 1 < end), None)
            if word is not None and word not in starts:
                starts[word] = time
        if len(starts) != len(spans):
            raise Unspeakable(text)
        begins = [starts[index] for index in range(len(spans))] + [seconds]
        phonemes = [(time, name) for kind, _, time, name in self.events if kind == _PHONEME]
        times = []
        for word, (begin, following) in enumerate(zip(begins, begins[1:])):
            inside = [(time, name) for time, name in phonemes if begin - 0.001 <= time < following - 0.001]
            end = following
            for time, name in reversed(inside):
                if name and not name.startswith("_"):
                    break
                end = time
            times.append((begin, max(end, begin + 0.02)))
        return times


@lru_cache(maxsize=1)
def espeak():
    return Espeak()


# --- flite -----------------------------------------------------------------------------------------------------------------------


class _Wave(Structure):
    _fields_ = [("type", c_char_p), ("rate", c_int), ("count", c_int), ("channels", c_int), ("samples", POINTER(c_short))]


class _Voice(Structure):
    _fields_ = [("name", c_char_p), ("features", c_void_p)]


class Flite:
    def __init__(self):
        everywhere = ctypes.RTLD_GLOBAL
        self.library = ctypes.CDLL("libflite.so.1", everywhere)
        ctypes.CDLL("libflite_usenglish.so.1", everywhere)
        ctypes.CDLL("libflite_cmulex.so.1", everywhere)
        self.library.flite_init()
        for name, result in (("flite_synth_text", c_void_p), ("utt_wave", POINTER(_Wave)), ("utt_relation", c_void_p),
                             ("relation_head", c_void_p), ("item_next", c_void_p), ("ffeature_float", c_float),
                             ("ffeature_string", c_char_p)):  # fmt: skip
            getattr(self.library, name).restype = result
        self.voices = {}

    def voice(self, name):
        if name not in self.voices:
            register = getattr(ctypes.CDLL(f"libflite_cmu_us_{name}.so.1", ctypes.RTLD_GLOBAL), f"register_cmu_us_{name}")
            register.restype = POINTER(_Voice)
            self.voices[name] = register(None)
        return self.voices[name]

    def speak(self, text, name, stretch=1.0, pitch=None):
        library, voice = self.library, self.voice(name)
        features = c_void_p(voice.contents.features)
        library.feat_set_float(features, b"duration_stretch", c_float(stretch))
        if pitch is not None:
            library.feat_set_float(features, b"int_f0_target_mean", c_float(pitch))
        utterance = c_void_p(library.flite_synth_text(" ".join(RESPELLED.get(word, word) for word in _plain(text)).encode(), voice))
        wave = library.utt_wave(utterance).contents
        samples = np.ctypeslib.as_array(wave.samples, (wave.count,)).astype(np.float32) / 32768
        rate = wave.rate
        times = []
        word = library.relation_head(c_void_p(library.utt_relation(utterance, b"Word")))
        while word:
            item = c_void_p(word)
            # A segment starts where the one before it ends, be it a pause.
            begin = library.ffeature_float(item, b"R:SylStructure.daughter1.daughter1.R:Segment.p.end")
            end = library.ffeature_float(item, b"R:SylStructure.daughtern.daughtern.R:Segment.end")
            times.append((begin, end))
            word = library.item_next(item)
        library.delete_utterance(utterance)
        return samples, rate, _joined(text, times)


def _plain(text):
    """Words with the punctuation behind them, and the respelling's key without it."""
    for word in text.split():
        letters = "".join(words_of(word))
        yield word.replace(letters, RESPELLED.get(letters, letters))


def _joined(text, times):
    """Times by word of the vocabulary: "patch-bay" was read as two."""
    result = []
    remaining = iter(times)
    try:
        for word in words_of(text):
            parts = [next(remaining) for _ in RESPELLED.get(word, word).split("-")]
            result.append((parts[0][0], parts[-1][1]))
    except StopIteration:
        raise Unspeakable(text) from None
    if next(remaining, None) is not None or any(end <= begin for begin, end in result):
        raise Unspeakable(text)
    return result


@lru_cache(maxsize=1)
def flite():
    return Flite()


# --- festival --------------------------------------------------------------------------------------------------------------------


def festival(texts, voice):
    """Only for voices that are never in training, so a program that is started once for all sentences is fast enough."""
    with tempfile.TemporaryDirectory() as folder:
        commands = [f"(voice_{voice})"]
        for index, text in enumerate(texts):
            base = f"{folder}/{index}"
            commands.append(f'(set! u (utt.synth (Utterance Text "{" ".join(_plain(text))}")))')
            commands.append(f'(utt.save.wave u "{base}.wav" "riff")')
            commands.append(f'(utt.save.words u "{base}.words") (utt.save.segs u "{base}.segments")')
        Path(f"{folder}/commands").write_text("\n".join(commands))
        subprocess.run(["festival", "--batch", f"{folder}/commands"], check=True, capture_output=True)
        for index, text in enumerate(texts):
            from scipy.io import wavfile

            rate, samples = wavfile.read(f"{folder}/{index}.wav")
            ends = _labels(f"{folder}/{index}.words")
            pauses = [0.0] + [end for end, name in _labels(f"{folder}/{index}.segments") if name in ("pau", "#", "h#")]
            times, previous = [], 0.0
            for end, _ in ends:
                begin = max([previous] + [pause for pause in pauses if previous < pause < end])
                times.append((begin, end))
                previous = end
            try:
                yield text, samples.astype(np.float32) / 32768, rate, _joined(text, times)
            except Unspeakable:
                continue


def _labels(path):
    lines = Path(path).read_text().split("#\n", 1)[-1].splitlines()
    rows = [line.split() for line in lines if line.strip()]
    return [(float(row[0]), row[2]) for row in rows if len(row) > 2]
