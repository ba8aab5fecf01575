// JSON bodies of the endpoints without audio (BAD-153 to BAD-171, BAD-194 to BAD-196).
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ErrorCode, GatewayError } from "../../../src/contract/errors.ts";
import { readJson } from "../../../src/http/body/read-json.ts";
import { cut, request } from "./bodies.ts";

const TYPE = { "content-type": "application/json" };
const read = (body: string | Buffer, headers: Record<string, string> = TYPE, chunkBytes = 65_536) =>
  readJson(request(cut(Buffer.from(body), chunkBytes), headers), { maxBytes: 4_194_304 });

async function refuses(code: ErrorCode, ...args: Parameters<typeof read>): Promise<GatewayError> {
  const error = await read(...args).then(
    () => assert.fail("accepted"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof GatewayError, String(error));
  assert.equal(error.code, code, error.message);
  return error;
}

test("request-body.json-without-audio, request-body.json-order: any JSON value arrives unchanged, however the body is cut, escaped or spaced", async () => {
  const texts = [
    '{"a":[1,-2.5e3,null,true,"\\u00e9\\ud83d\\ude00"],"b":{"a":{}}}',
    " [ ] \n",
    '"x"',
    "0",
    '{"":{"constructor":1}}',
    '"\\\\"',
    '["\\\\\\"",{"a":"}"}]',
  ];
  for (const text of texts) {
    for (const size of [1, 65_536]) assert.deepEqual(await read(text, TYPE, size), JSON.parse(text));
  }
});

test("request-body.json-without-audio: exactly 4 MiB is accepted; a byte more is BODY_TOO_LARGE, from the header or while reading", async () => {
  const body = `"${"x".repeat(4_194_302)}"`;
  assert.equal(String(await read(body)).length, 4_194_302);
  const error = await refuses("BODY_TOO_LARGE", `${body} `);
  assert.deepEqual(error.details, { max_body_bytes: 4_194_304, received_bytes: 4_194_305 });
  await refuses("BODY_TOO_LARGE", "1", { ...TYPE, "content-length": "4194305" });
});

test("request-body.json-strict: a byte order mark, which is invisible, is named in the refusal", async () => {
  assert.match((await refuses("INVALID_REQUEST", '\ufeff{"a":1}')).message, /byte order mark/);
});

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const keys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(",")}}`;

test("request-body.json-without-audio: 64 levels and 10,000 keys are accepted, one more of either is 400", async () => {
  assert.ok(await read(nested(64)));
  assert.equal(Object.keys((await read(keys(10_000))) as object).length, 10_000);
  await refuses("INVALID_REQUEST", nested(65));
  await refuses("INVALID_REQUEST", keys(10_001));
  await refuses("INVALID_REQUEST", `{"a":${'{"a":'.repeat(70)}1${"}".repeat(71)}`);
});

const BAD: readonly [string, string | Buffer][] = [
  ["BAD-153 an empty body", ""],
  ["BAD-157 a trailing comma", '{"a":1,}'],
  ["BAD-157 a comment", '{"a":1 // x\n}'],
  ["BAD-157 single quotes", "{'a':1}"],
  ["BAD-157 NaN", '{"a":NaN}'],
  ["BAD-157 -Infinity", '{"a":-Infinity}'],
  ["BAD-157 a hexadecimal number", '{"a":0x10}'],
  ["a leading zero", '{"a":01}'],
  ["a raw line break in a string", '{"a":"\n"}'],
  ["BAD-159 UTF-16", Buffer.from('{"a":1}', "utf16le")],
  ["a byte order mark", '\ufeff{"a":1}'],
  ["BAD-161 invalid UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ["half of a surrogate pair", '{"a":"\\ud800x"}'],
  ["half of a surrogate pair in a key", '{"\\udc00":1}'],
  ["BAD-165 a million keys cut short", `{${'"k":1,'.repeat(500_000)}`],
  ["BAD-171 1e400", '{"a":1e400}'],
  ["-1e400", '{"a":-1e400}'],
  ["400 digits", `{"a":${"9".repeat(400)}}`],
  ["a duplicate key", '{"a":1,"a":1}'],
  ["a duplicate key deep down", '{"b":[{"a":1,"\\u0061":2}]}'],
  ["__proto__", '{"b":{"__proto__":{"polluted":1}}}'],
  ["__proto__ escaped", '{"\\u005f_proto__":{"polluted":1}}'],
  ["a million open brackets", "[".repeat(1_000_000)],
  ["an open string", '{"a":"x'],
  ["an open string that ends in escapes", `{"a":"${'\\"'.repeat(200_000)}`],
  ["a million numbers", `[${"1,".repeat(999_999)}1]`],
  ["two values", "{}{}"],
];
for (const [name, body] of BAD) {
  test(`request-body.json-strict: ${name}: 400`, async () => {
    const error = await refuses("INVALID_REQUEST", body);
    assert.ok(Array.isArray(error.details?.["issues"]));
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });
}

test("request-body.json-type: BAD-160 BAD-194 BAD-195 BAD-196 any other type is 415, multipart too", async () => {
  for (const headers of [
    {},
    { "content-type": "application/json; charset=latin1" },
    { "content-type": "application/json; charset=utf-8; charset=utf-16" },
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "multipart/form-data; boundary=x" },
  ]) {
    await refuses("UNSUPPORTED_MEDIA_TYPE", "{}", { ...headers });
  }
});
