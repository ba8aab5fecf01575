// Converts money between integer nano-USD (10^-9), used everywhere internally, and exact decimal strings, used in the API [metering.money-exact].
const NANO_PER_USD = 1_000_000_000n;

/** Converts `"0.22"` to 220000000n. Null if it is not a plain decimal of at most nine places, so that nothing is rounded silently. */
export function parseUsd(text: string): bigint | null {
  const match = /^(\d{1,9})(?:\.(\d{1,9}))?$/u.exec(text);
  if (match === null) return null;
  const [, whole = "0", fraction = ""] = match;
  return BigInt(whole) * NANO_PER_USD + BigInt(fraction.padEnd(9, "0"));
}

/** Formats exactly, with at least two decimals and no more than needed: `"50.00"`, `"0.000733"`. */
export function formatUsd(nanoUsd: bigint): string {
  const sign = nanoUsd < 0n ? "-" : "";
  const absolute = nanoUsd < 0n ? -nanoUsd : nanoUsd;
  const fraction = (absolute % NANO_PER_USD)
    .toString()
    .padStart(9, "0")
    .replace(/0{1,7}$/u, "");
  return `${sign}${absolute / NANO_PER_USD}.${fraction}`;
}
