"""Random sentences over the vocabulary: half of them from templates, half of them words in any order."""

from pathlib import Path

MODEL = Path(__file__).resolve().parent.parent
WORDS = MODEL.joinpath("words.txt").read_text().split()

# Recordings that the model is judged by. Their sentences are never generated.
RESERVED = (
    "good morning this is the harbour office",
    "how can i help",
    "hello can i move my boat to pier seven",
    "can i move my boat to pier seven",
    "pier seven is free from ten",
    "for how long",
    "two nights please",
    "thank you",
    "two nights please thank you",
    "patchbay listens before it speaks",
    "this short recording has a known length",
    "and every format has to agree on it",
    "and so my fellow americans",
    "ask not what your country can do for you",
    "ask what you can do for your country",
)

SLOTS = {
    "n": "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty".split(),
    "digit": "zero one two three four five six seven eight nine".split(),
    "day": "monday tuesday wednesday thursday friday saturday sunday today tomorrow".split(),
    "colour": "red green blue".split(),
    "side": "left right up down north south east west".split(),
    "place": ["the harbour", "the office", "the market", "the street", "the river", "the gateway", "your country", "pier"],
    "thing": ["boat", "invoice", "number", "call", "recording", "text", "order", "account", "name", "address", "question", "answer"],
    "person": ["the doctor", "the captain", "my customer", "your customer", "the harbour office"],
    "whose": ["my", "your", "the", "this", "every"],
    "time": ["nights", "minutes", "hour", "week", "month", "morning", "evening", "afternoon"],
    "verb": "move open close stop start help call pay order ask need have answer".split(),
    "who": ["i", "we", "you", "it"],
    "greeting": ["hello", "good morning", "good evening", "good afternoon", "goodbye", "welcome", "sorry", "yes", "no", "please wait"],
}

# `,` and `.` are pauses for the synthesizer, `?` raises the voice.
TEMPLATES = """
{greeting}, this is {person}.
{greeting}. can {who} {verb} {whose} {thing}?
{greeting}, how can we help you {day}?
how can {who} {verb} {whose} {thing}?
how long is {whose} {thing}?
how long will you need {whose} boat?
for how long will {who} need it?
can {who} move the {thing} to pier {n}?
please move {whose} boat to pier {n}, before {n}.
i move my {thing} to {place} {day}.
pier {n} is free from {day}.
pier {n} is {colour}, pier {n} is {colour}.
is pier {n} free on {day}?
it is free from {n} to {n}.
we are open from {n} to {n} on {day}.
we are free for {n} nights.
{n} nights from {day}, please.
{n} {time}, please. {greeting}.
for {n} {time}, thank you.
thank you for the {thing}, and good morning.
thank you, {greeting}.
what is your {thing}?
what can {who} do for your {thing}?
what will you do for {n} {time}?
ask not for {whose} {thing}, ask for {whose} {thing}.
ask {person} what it was.
do not {verb} {whose} {thing} again.
and so we {verb} {whose} {thing}.
so my {thing} was {colour}, and your {thing} was not.
my fellow americans have a question.
fellow captain, this is a {colour} boat.
your country has a harbour and a river.
you can do it for {n} hundred.
my number is {digit} {digit} {digit}, {digit} {digit} {digit} {digit}.
{digit}, {digit}, {digit}, {digit}.
{n} hundred and {n}.
the price is {n} hundred and {n}.
{n}, {n} and {n}.
{side} at {place}, and {side} again.
{side}, {side}, {side}.
the {colour} boat is {side} of {place}.
stop at {place} and wait for the boat.
start the {thing} in {n} minutes.
call {person} on {day} at {n}.
the meeting is on {day} at {n}.
the meeting on {day} was short.
i need a doctor, please help.
i have a {thing} for you.
i will pay the invoice on {day}.
will you pay for {whose} {thing} {day}?
the invoice has no number.
{whose} customer has to agree on the price.
every {thing} has a name and a number.
every format is known to the gateway.
it has to agree on every format.
this {thing} has a short name.
this is a known {thing}, with a length of {n}.
a short recording of {n} minutes.
the length of the recording is {n}.
patchbay is a gateway for speech and text.
patchbay speaks, the doctor listens.
it listens before {person} speaks.
it listens to speech and has a text for you.
{person} speaks, and {who} answer.
text and speech, {colour} and {colour}.
water is free in the harbour.
water from the north, and street from the {side}.
please {verb} {whose} {thing}.
please {verb} and {verb} {whose} {thing} with {person}.
sorry, the {thing} is not open {day}.
yes, {who} can {verb} it. no, {who} will not.
welcome to {place}. the price is {n}.
wait a {time}, and {verb} again.
in the {time} we {verb}, in the {time} we do not.
""".strip().splitlines()


def template_sentence(rng):
    """A sentence as it is spoken, with punctuation."""
    text = TEMPLATES[rng.integers(len(TEMPLATES))]
    while "{" in text:
        start, end = text.index("{"), text.index("}")
        choices = SLOTS[text[start + 1 : end]]
        text = text[:start] + choices[rng.integers(len(choices))] + text[end + 1 :]
    return text


def random_sentence(rng):
    """Words in any order, so that the model has to hear each of them and cannot guess by its neighbours."""
    count = int(rng.integers(1, 9))
    words = [WORDS[rng.integers(len(WORDS))] for _ in range(count)]
    comma = rng.choice([0.0, 0.15, 0.5, 1.0])
    spoken = [word + ("," if rng.random() < comma and index < count - 1 else "") for index, word in enumerate(words)]
    return " ".join(spoken) + rng.choice([".", "?", ""], p=[0.7, 0.2, 0.1])


def sentence(rng):
    while True:
        text = template_sentence(rng) if rng.random() < 0.45 else random_sentence(rng)
        clauses = [" ".join(words_of(clause)) for clause in text.replace("?", ".").replace(",", ".").split(".")]
        if " ".join(words_of(text)) not in RESERVED and not any(clause in RESERVED and len(clause.split()) > 2 for clause in clauses):
            return text


def words_of(text):
    return "".join(character if character.isalpha() else " " for character in text.lower()).split()


def unknown_words():
    """Words that a template uses by mistake: the model would have no token for them."""
    spoken = " ".join(TEMPLATES) + " " + " ".join(" ".join(choices) for choices in SLOTS.values())
    used = set(words_of("".join(part.split("}")[-1] for part in spoken.split("{"))))
    return sorted(used - set(WORDS))
