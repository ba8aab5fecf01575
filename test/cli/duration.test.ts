// Durations as they are typed behind an option [cli.durations].
import assert from "node:assert/strict";
import { test } from "node:test";
import { readDuration } from "../../src/cli/duration.ts";

test("cli.durations: a duration is read in days, hours, minutes and seconds, and anything else is refused", () => {
  const read = ["90s", "30m", "1h", "2h30m", "7d", "1d1h1m1s", "0s"].map((text) => readDuration(text, "--for"));
  assert.deepEqual(read, [90, 1_800, 3_600, 9_000, 604_800, 90_061, 0]);
  for (const text of ["", "60", "1", "h", "1.5h", "-1h", "1h ", "30m2h", "1w", "tomorrow"])
    assert.throws(() => readDuration(text, "--for"), /--for: .* is not a duration/u, text);
});
