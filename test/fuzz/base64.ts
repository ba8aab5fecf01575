// Base64 as it streams in, compared with a judge that sees it whole.
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { createBase64Decoder } from "../../src/audio/base64.ts";
import { cutAt, cuts } from "./pieces.ts";
import type { Fuzz } from "./fuzz.ts";

const encoded = fc.uint8Array({ maxLength: 80 }).chain((bytes) => {
  const standard = Buffer.from(bytes).toString("base64");
  return fc.constantFrom(standard, standard.replace(/=+$/u, ""), Buffer.from(bytes).toString("base64url"));
});
const junk = fc.constantFrom(
  "",
  "=",
  "==",
  "===",
  "-",
  "_",
  "+",
  "/",
  " ",
  "\r\n",
  "\t",
  "é",
  "\0",
  "A",
  "data:",
  ";base64,",
  "!",
);
const damaged = fc
  .tuple(
    fc.constantFrom("", "data:audio/wav;base64,", "data:;base64,", "DATA:a/b;x=y;base64,"),
    encoded,
    fc.array(fc.tuple(fc.nat(100), junk), { maxLength: 3 }),
  )
  .map(([prefix, text, changes]) =>
    changes.reduce((value, [at, what]) => value.slice(0, at) + what + value.slice(at), prefix + text),
  );

/** The bytes, or null where the value is not base64: alphabets mixed, padding within, foreign characters, a lone last one. */
function decoded(text: string): Buffer | null {
  const plain = text
    .replaceAll(/[ \r\n\t]/gu, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  if (/[-_]/u.test(text) && /[+/]/u.test(text)) return null;
  const [, body = "", padding = ""] = /^([^=]*)(=*)$/u.exec(plain) ?? [];
  if (body + padding !== plain || /[^A-Za-z0-9+/]/u.test(body) || body.length % 4 === 1) return null;
  if (padding !== "" && (padding.length > 2 || (body.length + padding.length) % 4 !== 0)) return null;
  return Buffer.from(body, "base64");
}

function read(pieces: readonly Uint8Array[]) {
  const decoder = createBase64Decoder({ lineBreaks: true });
  const bytes = pieces.map((piece) => Buffer.from(decoder.push(Uint8Array.from(piece))));
  const { rest, outcome } = decoder.end();
  return outcome.ok ? { bytes: Buffer.concat([...bytes, rest]), mediaType: outcome.mediaType } : outcome;
}

export const base64: Fuzz = {
  about: "base64, damaged and cut anywhere: the same verdict and bytes as in one piece, and as an independent decoder",
  shortRuns: 1_500,
  open: async () => ({
    property: fc.property(damaged, cuts, (text, places) => {
      const bytes = Buffer.from(text);
      const whole = read([bytes]);
      assert.deepEqual(read(cutAt(bytes, places)), whole);
      if (/data:/iu.test(text)) return;
      assert.deepEqual("bytes" in whole ? whole.bytes : null, decoded(text), JSON.stringify(text));
    }) as fc.IProperty<unknown>,
    close: async () => undefined,
  }),
};
