// Reduces a text to its letters and marks, for comparing texts that differ in spacing and punctuation.
export function stripToLetters(text: string): string {
  return text.replace(/\s+/gu, "");
}
