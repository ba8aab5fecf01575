// A text's letters and marks alone: what two texts are compared by that may be set differently.
export function withoutSpace(text: string): string {
  return text.replace(/\s+/gu, "");
}
