// Cuts text of the documentation into sentences and words, for tests of its readability.

/** A code in backticks is one word, whatever it contains. */
export function sentencesIn(text: string): readonly string[] {
  return text
    .replaceAll(/`[^`]*`/gu, "code")
    .split(/(?<=[.!?:;])\s+/u)
    .filter((sentence) => wordsIn(sentence).length > 0);
}

export function wordsIn(sentence: string): readonly string[] {
  return sentence.match(/[\p{L}\p{N}][\p{L}\p{N}'’/.-]*/gu) ?? [];
}
