// RFC 3339 for what is worded many times in one moment: log lines and answers come together, and V8 words each time in C.

/** Of milliseconds since the epoch, as `Date.toISOString`; worded once a millisecond. */
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
