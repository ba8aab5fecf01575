// Judges the head of a reply and the text of a redirect without a parser in front that refuses the worst of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeHead, redirectTarget } from "../../src/audio/remote-reply.ts";
import { GatewayError } from "../../src/contract/errors.ts";

const GOOD = { "content-type": "audio/wav", "content-length": "10" };

function verdict(headers: Readonly<Record<string, string>>, status = 200): unknown {
  try {
    return judgeHead({ status, headers }, 10).kind;
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error.details?.["reason"] ?? error.code;
  }
}

for (const [headers, expected] of [
  [GOOD, "audio"],
  [{ ...GOOD, "content-encoding": "Identity" }, "audio"],
  [{ ...GOOD, "content-encoding": "" }, "audio"],
  [{ ...GOOD, "content-encoding": "gzip" }, "content_encoding"],
  [{ ...GOOD, "content-encoding": "identity, gzip" }, "content_encoding"],
  [{ ...GOOD, "content-length": "11" }, "AUDIO_TOO_LARGE"],
  [{ ...GOOD, "content-length": "0" }, "INVALID_AUDIO"],
  [{ ...GOOD, "content-length": "+3" }, "missing_content_length"],
  [{ ...GOOD, "content-length": "3, 3" }, "missing_content_length"],
  [{ ...GOOD, "content-length": "" }, "missing_content_length"],
  [{ ...GOOD, "content-length": "9".repeat(16) }, "missing_content_length"],
  [{ ...GOOD, "transfer-encoding": "chunked" }, "missing_content_length"],
  [{ "content-type": "audio/wav" }, "missing_content_length"],
  [{ ...GOOD, "content-type": "audio/wav, audio/wav" }, "unsupported_content_type"],
] as const)
  test(`remote-audio.content-length, remote-audio.content-encoding, remote-audio.size, remote-audio.content-type: ${JSON.stringify(headers)}: ${expected}`, () =>
    assert.equal(verdict(headers), expected));

test("remote-audio.redirects: a redirect that names no address leads nowhere, be it without a Location or with an empty one", () => {
  assert.equal(verdict({ location: "/b" }, 302), "redirect");
  for (const headers of [{}, { location: "" }]) assert.equal(verdict(headers, 302), "http_status");
});

test("remote-audio.content-type: exactly these types are accepted", () => {
  const types =
    "audio/mpeg, audio/mp3, audio/mpga, audio/mp4, audio/m4a, audio/x-m4a, audio/wav, audio/x-wav, audio/wave, audio/vnd.wave, audio/webm, video/mp4, video/mpeg, video/webm";
  for (const type of types.split(", ")) assert.equal(verdict({ ...GOOD, "content-type": type }), "audio", type);
  for (const type of ["audio/ogg", "audio/flac", "audio/*", "application/octet-stream", "text/plain", "", "wav"])
    assert.equal(verdict({ ...GOOD, "content-type": type }), "unsupported_content_type", type);
});

for (const [location, expected] of [
  ["https://other.example/b", "https://other.example/b"],
  ["HTTP://other.example/b", "HTTP://other.example/b"],
  ["javascript:alert(1)", "javascript:alert(1)"],
  ["//other.example/b", "https://other.example/b"],
  ["///other.example/b", "https:///other.example/b"],
  ["/b?c='d'", "https://media.example/b?c='d'"],
  ["b", "https://media.example/x/b"],
  ["../b", "https://media.example/b"],
  ["?c", "https://media.example/x/a?c"],
  ["\\\\other.example", "\\\\other.example"],
  ["a b", "a b"],
  ["/\\other.example", "https://media.example/\\other.example"],
] as const)
  test(`remote-audio.redirect-judged: Location ${JSON.stringify(location)} is judged as ${JSON.stringify(expected)}`, () =>
    assert.equal(redirectTarget(location, "https://media.example/x/a?q"), expected));
