// The text in which the stand-in reports how long its answer took. Every contender passes it on in the answer, so that the load generator can subtract it.

const NAME = "took_us=";
const DIGITS = 9;

export const TOOK = {
  /** Always of the same length. */
  mark: (ms: number): string => `${NAME}${String(Math.round(ms * 1000)).padStart(DIGITS, "0")} `,
  /** In milliseconds. Null: the text has no mark. */
  read: (text: string): number | null => {
    const at = text.indexOf(NAME);
    return at === -1 ? null : Number(text.slice(at + NAME.length, at + NAME.length + DIGITS)) / 1000;
  },
} as const;
