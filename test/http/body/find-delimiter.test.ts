// The search for the boundary of a form, compared with a plain search for all of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { findDelimiter } from "../../../src/http/body/form/find-delimiter.ts";

const DELIMITER = Buffer.from("\r\n--boundary");
/** Beginnings of the delimiter, whole and broken, between other bytes. */
const pieces = fc.array(fc.constantFrom("\r\n--boundary", "\r\n--bound", "\r\n--", "\r\n-", "\r", "\n", "-", "audio"), {
  maxLength: 60,
});

test("request-body.form-boundary: the boundary is found where it is, whatever the audio before it contains", () => {
  fc.assert(
    fc.property(pieces, (texts) => {
      const bytes = Buffer.from(texts.join(""));
      assert.equal(findDelimiter(bytes, DELIMITER), bytes.indexOf(DELIMITER));
    }),
    { numRuns: 2_000 },
  );
});

test("request-body.form-boundary: the boundary is found after many of its beginnings", () => {
  for (const count of [0, 15, 16, 17, 500]) {
    const before = Buffer.from("\r\n--".repeat(count));
    assert.equal(findDelimiter(Buffer.concat([before, DELIMITER]), DELIMITER), before.length);
    assert.equal(findDelimiter(before, DELIMITER), -1);
  }
});
