// Formats caption timestamps: `HH:MM:SS`, the format's separator, milliseconds.

/** Rounds to the millisecond once, so that a start and an equal end never print differently. */
export function captionTimestamp(seconds: number, separator: "," | "."): string {
  const totalMs = Math.max(0, Math.round(seconds * 1000));
  const ms = totalMs % 1000;
  const s = Math.floor(totalMs / 1000) % 60;
  const m = Math.floor(totalMs / 60_000) % 60;
  const h = Math.floor(totalMs / 3_600_000);
  return `${pad(h, 2)}:${pad(m, 2)}:${pad(s, 2)}${separator}${pad(ms, 3)}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
