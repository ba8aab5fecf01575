// Parses figures in provider replies leniently: an implausible value becomes null, never a failure.

/** Seconds as a number or (vLLM) as text. NaN, infinite and negative values become null. */
export function secondsOrNull(value: unknown): number | null {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

export function confidenceOrNull(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= 1 ? value : null;
}

/** Google's durations: seconds as text, `"1.200s"`. Any other value becomes null. */
export function offsetSeconds(value: unknown): number | null {
  return typeof value === "string" && /^\d+(\.\d+)?s$/u.test(value) ? Number(value.slice(0, -1)) : null;
}
