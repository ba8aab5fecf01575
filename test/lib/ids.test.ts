// Identifiers: what they look like, and that they sort in the order in which they were created.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { newId } from "../../src/contract/ids.ts";

test("api.ids: an id is its prefix and a UUIDv7 in 26 digits of base32, never the same twice", () => {
  const ids = Array.from({ length: 10_000 }, () => newId("request"));
  for (const id of ids) assert.match(id, /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/u);
  assert.equal(new Set(ids).size, ids.length);
});

test("api.ids-ordered: ids of one process sort in the order of creation, however many a millisecond, and when the clock is set back", () => {
  mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
  try {
    const ids: string[] = [];
    const make = (count: number) => {
      for (let made = 0; made < count; made += 1) ids.push(newId("attempt"));
    };
    make(10_000);
    mock.timers.tick(1);
    make(3);
    mock.timers.setTime(1_700_000_000_000);
    make(10_000);
    assert.deepEqual(ids.toSorted(), ids);
  } finally {
    mock.timers.reset();
  }
});
