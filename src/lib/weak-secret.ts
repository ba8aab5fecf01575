// Detects secrets that were typed, copied from an example or left at a default. A random secret is rejected less than once in a million times.

const LEFT_AS_IT_WAS =
  /change[-_ ]?(me|this|it)|pass[-_ ]?word|placeholder|your[-_ ]|replace[-_ ]|insecure|x{6}|\.{3}/iu;
const REPEATED_CHARACTERS = 8;

/** Why a text is not usable as a secret, as the end of a sentence that begins with "it"; null: no objection. */
export function weaknessOf(text: string): string | null {
  if (new Set(text).size < 10) return "has too few different characters";
  if (LEFT_AS_IT_WAS.test(text)) return "contains a word that is common in examples and defaults";
  for (let at = 0; at + REPEATED_CHARACTERS <= text.length; at += 1) {
    if (text.includes(text.slice(at, at + REPEATED_CHARACTERS), at + 1)) return "repeats itself";
  }
  return isRun([...Buffer.from(text)]) ? "is a sequence of adjacent characters" : null;
}

/** For a key that an operator chose and may want to remember: rejects only what is no secret at all. */
export function weaknessOfChosen(text: string): string | null {
  if (new Set(text).size < 6) return "has too few different characters";
  return LEFT_AS_IT_WAS.test(text) ? "contains a word that is common in examples and defaults" : null;
}

/** For 32 bytes: a word or a counter stays weak when it is encoded as base64. */
export function weaknessOfKey(key: Buffer): string | null {
  if (new Set(key).size < 16) return "has too few different bytes";
  if (key.every((byte) => byte >= 0x20 && byte <= 0x7e)) return "is a text that was encoded";
  return isRun([...key]) ? "is a sequence of adjacent characters" : null;
}

/** Most characters are followed by the next or previous one of the alphabet. */
function isRun(values: readonly number[]): boolean {
  const steps = values.slice(1).filter((value, at) => Math.abs(value - (values[at] ?? value)) === 1);
  return steps.length * 2 > values.length;
}
