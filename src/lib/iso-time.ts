// Formats RFC 3339 times and caches the last millisecond: under load many log lines and responses share one.

/** Takes milliseconds since the epoch. Same format as `Date.toISOString`. */
export function createIsoTime(): (ms: number) => string {
  let latestMs = Number.NaN;
  let worded = "";
  return (ms) => {
    if (ms !== latestMs) {
      worded = new Date(ms).toISOString();
      latestMs = ms;
    }
    return worded;
  };
}
