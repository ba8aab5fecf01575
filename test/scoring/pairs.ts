// Pairs of a reference and a transcript with errors of every kind, the same for the same seed. Words are letters and apostrophes, which no scorer treats
// specially.

export interface Pair {
  readonly kind: string;
  readonly reference: string;
  readonly transcript: string;
}

export const SEED = 20_261_127;

const WIDE = [
  "harbour",
  "boat",
  "seven",
  "the",
  "of",
  "don't",
  "ask",
  "country",
  "morning",
  "was",
  "he",
  "made",
  "young",
  "pier",
];
/** Few words, so that many alignments cost the same. */
const NARROW = ["a", "b", "c"];

type Random = () => number;

const KINDS: Readonly<Record<string, (random: Random) => Omit<Pair, "kind">>> = {
  equal: (random) => {
    const reference = sentence(random, WIDE, 1, 12);
    return { reference: reference.join(" "), transcript: reference.join(" ") };
  },
  "empty transcript": (random) => ({ reference: sentence(random, WIDE, 1, 9).join(" "), transcript: "" }),
  "empty reference": (random) => ({ reference: "", transcript: sentence(random, WIDE, 1, 9).join(" ") }),
  case: (random) => {
    const reference = sentence(random, WIDE, 2, 10);
    return {
      reference: reference.map((word) => inCase(random, word)).join(" "),
      transcript: edited(random, reference, WIDE, 0.2)
        .map((word) => inCase(random, word))
        .join(" "),
    };
  },
  insertions: (random) =>
    changed(random, (words) => words.flatMap((word) => (random() < 0.3 ? [word, pick(random, WIDE)] : [word]))),
  deletions: (random) => changed(random, (words) => words.filter(() => random() >= 0.3)),
  substitutions: (random) =>
    changed(random, (words) => words.map((word) => (random() < 0.3 ? pick(random, WIDE) : word))),
  "repeated words": (random) =>
    changed(random, (words) =>
      words.flatMap((word) => Array.from({ length: 1 + Math.floor(random() * 3) }, () => word)),
    ),
  "reference with repeated words": (random) => {
    const { reference, transcript } = changed(random, (words) => words.flatMap((word) => [word, word]));
    return { reference: transcript, transcript: reference };
  },
  "swapped words": (random) => changed(random, (words) => words.toSorted(() => random() - 0.5)),
  mixed: (random) => changed(random, (words) => edited(random, words, WIDE, 0.5)),
  "few words": (random) => changed(random, (words) => edited(random, words, NARROW, 0.6), NARROW),
  unrelated: (random) => ({
    reference: sentence(random, NARROW, 1, 10).join(" "),
    transcript: sentence(random, NARROW, 1, 10).join(" "),
  }),
};

/** `count` pairs, of all kinds in turn. */
export function wordPairs(count: number, seed = SEED): readonly Pair[] {
  const random = randomFrom(seed);
  const kinds = Object.entries(KINDS);
  return Array.from({ length: count }, (_, index) => {
    const [kind, make] = kinds[index % kinds.length] ?? ["", () => ({ reference: "", transcript: "" })];
    return { kind, ...make(random) };
  });
}

function changed(
  random: Random,
  change: (words: readonly string[]) => readonly string[],
  vocabulary = WIDE,
): Omit<Pair, "kind"> {
  const reference = sentence(random, vocabulary, 1, 14);
  return { reference: reference.join(" "), transcript: change(reference).join(" ") };
}

function edited(
  random: Random,
  words: readonly string[],
  vocabulary: readonly string[],
  share: number,
): readonly string[] {
  return words.flatMap((word) => {
    if (random() >= share) return [word];
    const kind = Math.floor(random() * 3);
    return kind === 0 ? [] : kind === 1 ? [pick(random, vocabulary)] : [word, pick(random, vocabulary)];
  });
}

function sentence(random: Random, vocabulary: readonly string[], least: number, most: number): readonly string[] {
  const length = least + Math.floor(random() * (most - least + 1));
  return Array.from({ length }, () => pick(random, vocabulary));
}

function inCase(random: Random, word: string): string {
  return random() < 0.3
    ? word.toUpperCase()
    : random() < 0.5
      ? `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
      : word;
}

function pick(random: Random, words: readonly string[]): string {
  return words[Math.floor(random() * words.length)] ?? "";
}

function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
