// Content negotiation as a table (RFC 9110 section 12.5.1).
import assert from "node:assert/strict";
import { test } from "node:test";
import { GatewayError } from "../../../src/contract/errors.ts";
import type { Delivery } from "../../../src/gateway/transcription/delivery.ts";
import { chooseDelivery } from "../../../src/http/reply/choose-format.ts";

const ROWS: readonly (readonly [string | undefined, Delivery | "refused"])[] = [
  [undefined, "json"],
  ["", "json"],
  ["*/*", "json"],
  ["application/json", "json"],
  ["application/*", "json"],
  ["application/problem+json", "json"],
  ["text/plain", "text"],
  ["TEXT/PLAIN; charset=utf-8", "text"],
  ["text/*", "text"],
  ["text/vtt", "vtt"],
  ["application/x-subrip", "srt"],
  ["text/vtt, application/json;q=0.9", "vtt"],
  ["text/vtt;q=0.8, application/json", "json"],
  ["text/html, application/xhtml+xml, */*;q=0.8", "json"],
  ["application/json;q=0, */*", "text"],
  ["text/*;q=0.3, text/vtt;q=0.7", "vtt"],
  ["text/plain;q=0, text/*", "vtt"],
  ["image/png", "refused"],
  ["application/json;q=0", "refused"],
  ["*/*;q=0", "refused"],
  ["text/vtt;q=nonsense", "refused"],
  ["audio/mpeg, image/*", "refused"],
];

for (const [accept, wanted] of ROWS) {
  test(`api.accept, captions.json-always: Accept ${accept === undefined ? "absent" : `"${accept}"`}: ${wanted}`, () => {
    if (wanted !== "refused") return assert.equal(chooseDelivery(accept, wanted === "srt" ? "srt" : "vtt"), wanted);
    return assert.throws(
      () => chooseDelivery(accept, "vtt"),
      (error) => error instanceof GatewayError && error.code === "NOT_ACCEPTABLE",
    );
  });
}

test("api.accept, captions.not-acceptable: of what Accept names, the most welcome form that this response_format can have; 406 only when there is none", () => {
  assert.equal(chooseDelivery("text/vtt, application/json;q=0.5", "json"), "json");
  assert.equal(chooseDelivery("application/x-subrip, */*;q=0.1", "vtt"), "json");
  assert.equal(chooseDelivery("text/vtt, text/plain;q=0.5", "text"), "text");
  for (const format of ["json", "text", "verbose_json", "srt"] as const) {
    assert.throws(
      () => chooseDelivery("text/vtt", format),
      (error) => error instanceof GatewayError && error.code === "NOT_ACCEPTABLE" && error.message.includes(format),
    );
  }
});
