// Forms and JSON bodies of transcriptions made of the tokens that mean something in them, in any order: refused in the gateway's words or
// read, the same way however they are cut, and nothing stays in the spool [api.fuzzed].
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { GatewayError } from "../../src/contract/errors.ts";
import { audioOf, type Bench, BOUNDARY, openBench, request } from "../http/body/bodies.ts";
import type { Fuzz } from "./fuzz.ts";
import { cutAt, cuts } from "./pieces.ts";

const FORM_TOKENS = [
  `--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY}\r\n`,
  `--${BOUNDARY}--\r\n`,
  `\r\n--${BOUNDARY}--`,
  `--${BOUNDARY}`,
  "\r\n",
  "\r\n\r\n",
  "\r",
  "\n",
  "--",
  " ",
  "Content-Disposition: form-data; ",
  'name="file"',
  'name="prompt"',
  'name="audio.base64"',
  'name="model"',
  'name="__proto__"',
  "name=",
  '; filename="a.wav"',
  "; filename*=utf-8''%41",
  "Content-Type: audio/wav",
  "Content-Transfer-Encoding: base64",
  ": ",
  ";",
  '"',
  "\\",
  "=",
  "UklGRg==",
  "true",
  "x".repeat(300),
  "\0",
  "\u00ff",
];
const JSON_TOKENS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  '"audio"',
  '"base64"',
  '"data"',
  '"url"',
  '"prompt"',
  '"model"',
  '"__proto__"',
  '"keyterms"',
  '"UklGRg=="',
  "\\u00e9",
  "\\ud800",
  "\\",
  "\\/",
  '"\\u0061udio"',
  "null",
  "true",
  "1e999",
  "-0",
  "0.1",
  " ",
  "\n",
  "\ufeff",
  "\0",
  "x",
  '{"audio":{"base64":"',
  '"}}',
  "[".repeat(70),
];
const tokens = (list: readonly string[], begin: string, end: string) =>
  fc
    .tuple(fc.boolean(), fc.array(fc.constantFrom(...list), { maxLength: 30 }), fc.boolean())
    .map(([hasBegin, all, hasEnd]) =>
      Buffer.from(`${hasBegin ? begin : ""}${all.join("")}${hasEnd ? end : ""}`, "latin1"),
    );

async function verdict(bench: Bench, pieces: readonly Buffer[], contentType: string) {
  try {
    const submission = await bench.read(request(pieces, { "content-type": contentType }), 3_000);
    return {
      fields: submission.fields,
      bytes: submission.audio.kind === "spooled" ? await audioOf(submission) : submission.audio.url,
    };
  } catch (error) {
    assert.ok(error instanceof GatewayError, error instanceof Error ? (error.stack ?? error.message) : "no error");
    assert.ok(
      ["INVALID_REQUEST", "ROUTE_CONTROL_FIELD_REJECTED", "AUDIO_TOO_LARGE", "BODY_TOO_LARGE"].includes(error.code),
      error.code,
    );
    // The count of a body cut short depends on where its pieces end; everything else may not.
    return { code: error.code, param: error.param, issues: error.details?.["issues"] };
  }
}

function bodies(about: string, contentType: string, body: fc.Arbitrary<Buffer>): Fuzz {
  return {
    about,
    shortRuns: 300,
    open: async () => {
      const ends: (() => Promise<void> | void)[] = [];
      const bench = await openBench({ after: (end) => void ends.push(end as () => Promise<void>) });
      return {
        property: fc.asyncProperty(body, cuts, async (bytes, places) => {
          const whole = await verdict(bench, [bytes], contentType);
          assert.deepEqual(await verdict(bench, cutAt(bytes, places), contentType), whole);
          await bench.isEmpty();
        }) as fc.IAsyncProperty<unknown>,
        close: async () => {
          for (const end of ends) await end();
        },
      };
    },
  };
}

export const multipart: Fuzz = bodies(
  "forms made of boundaries, headers and halves of them",
  `multipart/form-data; boundary=${BOUNDARY}`,
  tokens(
    FORM_TOKENS,
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`,
    `\r\n--${BOUNDARY}--\r\n`,
  ),
);
export const json: Fuzz = bodies(
  "JSON made of its tokens and halves of them",
  "application/json",
  tokens(JSON_TOKENS, '{"audio":{"base64":"UklGRg=="},', "}"),
);
