// JSON bodies of POST /v1/transcription, base64 included (BAD-097, BAD-105, BAD-153 to BAD-212).
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { audioOf, cut, file, form, formRequest, jsonRequest, openBench, request } from "./bodies.ts";

const AUDIO = randomBytes(1_502);
const BASE64 = AUDIO.toString("base64");
const JSON_TYPE = { "content-type": "application/json" };
/** A body around `text` that is right but for it. */
const withRaw = (text: string) => Buffer.from(`{"audio":{"base64":"${BASE64}"},${text}}`);

test("request-body.max-audio-bytes, request-body.refused-while-reading: the whole JSON body counts, N accepted and N + 1 is 413 while it streams", async (t) => {
  const bench = await openBench(t);
  const body = Buffer.from(JSON.stringify({ language: "en", audio: { base64: BASE64 } }));
  assert.deepEqual(await audioOf(await bench.read(jsonRequest(body), body.length)), AUDIO);
  const error = await bench.refuses(jsonRequest(body), "AUDIO_TOO_LARGE", body.length - 1);
  assert.deepEqual([error.param, error.details?.["max_audio_bytes"]], ["audio", body.length - 1]);
  let asked = 0;
  function* endless(): Generator<Buffer> {
    yield Buffer.from('{"audio":"');
    for (; asked < 1_000; asked += 1) yield Buffer.alloc(1_000, "A");
  }
  await bench.refuses(request(endless(), JSON_TYPE), "AUDIO_TOO_LARGE", 5_000);
  assert.ok(asked < 200, `stops reading, yet read ${asked} more chunks`);
});

test("request-body.declared-length: BAD-097 a declared length one byte above the limit is refused without reading", async (t) => {
  const bench = await openBench(t);
  let isRead = false;
  function* body(): Generator<Buffer> {
    isRead = true;
    yield Buffer.from("{}");
  }
  const error = await bench.refuses(
    request(body(), { ...JSON_TYPE, "content-length": "10001" }),
    "AUDIO_TOO_LARGE",
    10_000,
  );
  assert.deepEqual(error.details, { max_audio_bytes: 10_000, received_bytes: 10_001 });
  assert.equal(isRead, false);
  await bench.refuses(request(body(), { ...JSON_TYPE, "content-length": "10000" }), "INVALID_REQUEST", 10_000);
  assert.equal(isRead, true);
});

const HEADS: readonly [string, Record<string, string>][] = [
  ["BAD-160 charset=latin1", { "content-type": "application/json; charset=latin1" }],
  ["BAD-194 no Content-Type", {}],
  ["an empty Content-Type", { "content-type": "" }],
  ["BAD-195 two charsets", { "content-type": "application/json; charset=utf-8; charset=utf-16" }],
  ["the same charset twice", { "content-type": "application/json; charset=utf-8; charset=utf-8" }],
  ["a charset by its name alone", { "content-type": "application/json; charset" }],
  ["two semicolons", { "content-type": "application/json;;" }],
  ["another parameter", { "content-type": "application/json; version=1" }],
  ["BAD-196 a urlencoded form", { "content-type": "application/x-www-form-urlencoded" }],
  ["application/json5", { "content-type": "application/json5" }],
  ["text/plain", { "content-type": "text/plain" }],
  ["two types in one header", { "content-type": "application/json, application/json" }],
];
for (const [name, headers] of HEADS) {
  test(`request-body.json-type: ${name}: 415`, async (t) => {
    const bench = await openBench(t);
    const body = Buffer.from(JSON.stringify({ audio: BASE64 }));
    await bench.refuses(request(body, headers), "UNSUPPORTED_MEDIA_TYPE");
  });
}

test("request-body.json-type: application/json is accepted in any case, and with charset=utf-8", async (t) => {
  const bench = await openBench(t);
  for (const headers of [
    { "content-type": "Application/JSON" },
    { "content-type": 'application/json;charset="UTF-8"' },
    { "content-type": "application/json ; charset=utf-8" },
    { "content-type": "application/json;" },
    { "content-type": "application/json; charset=utf-8; " },
  ]) {
    const body = Buffer.from(JSON.stringify({ audio: BASE64 }));
    assert.deepEqual(await audioOf(await bench.read(request(body, headers))), AUDIO);
  }
});

test("request-body.data-prefix: an address where base64 belongs is refused with the name of the field for addresses, however the body is cut", async (t) => {
  const bench = await openBench(t);
  for (const address of ["https://media.example/a.wav", "HTTP://x", " https://media.example/a.wav"])
    for (const size of [1, 65_536]) {
      const body = cut(Buffer.from(JSON.stringify({ audio: address })), size);
      const { message } = await bench.refuses(request(body, { "content-type": "application/json" }), "INVALID_REQUEST");
      assert.match(message, /`audio\.url`/);
    }
});

const many = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(",");
const BAD_BODIES: readonly [string, string | Buffer, string | null][] = [
  ["BAD-153 an empty body", "", null],
  ["white space alone", " \r\n", null],
  ["BAD-157 a trailing comma", withRaw('"language":"en",'), null],
  ["BAD-157 a comment", withRaw('/* c */"language":"en"'), null],
  ["BAD-157 single quotes", withRaw("'language':'en'"), null],
  ["BAD-157 NaN", withRaw('"speaker_count_hint":NaN'), null],
  ["BAD-157 Infinity", withRaw('"speaker_count_hint":Infinity'), null],
  ["BAD-157 a hexadecimal number", withRaw('"speaker_count_hint":0x2'), null],
  ["BAD-159 UTF-16 LE", Buffer.from(JSON.stringify({ audio: BASE64 }), "utf16le"), null],
  [
    "BAD-159 UTF-16 LE with a byte order mark",
    Buffer.from(`\ufeff${JSON.stringify({ audio: BASE64 })}`, "utf16le"),
    null,
  ],
  ["a UTF-8 byte order mark", `\ufeff${JSON.stringify({ audio: BASE64 })}`, null],
  [
    "BAD-161 invalid UTF-8 in a string",
    Buffer.concat([Buffer.from('{"audio":"AAAA","prompt":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    null,
  ],
  [
    "an overlong UTF-8 form",
    Buffer.concat([Buffer.from('{"audio":"AAAA","prompt":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    null,
  ],
  ["half of a surrogate pair", withRaw('"prompt":"\\ud83d"'), null],
  ["BAD-165 a million keys", `{${many(1_000_000, (index) => `"k${index}":1`)}}`, null],
  ["1,001 keys", `{${many(1_001, (index) => `"k${index}":1`)}}`, null],
  ["65 levels", withRaw(`"prompt":${"[".repeat(64)}${"]".repeat(64)}`), null],
  ["a million levels", withRaw(`"prompt":${"[".repeat(1_000_000)}`), null],
  ["1e400", withRaw('"speaker_count_hint":1e400'), null],
  ["BAD-172 an unsafe integer", withRaw('"speaker_count_hint":9007199254740993'), "speaker_count_hint"],
  ["a fraction", withRaw('"speaker_count_hint":1.5'), "speaker_count_hint"],
  ["a number as a string", withRaw('"speaker_count_hint":"2"'), "speaker_count_hint"],
  ['BAD-176 "true" for a boolean', withRaw('"diarization":"true"'), "diarization"],
  ["BAD-176 1 for a boolean", withRaw('"stream":1'), "stream"],
  ["BAD-183 an unknown profile", withRaw('"response_profile":"turbo"'), "response_profile"],
  ["BAD-185 100,000 terms", withRaw(`"custom_vocabulary":[${many(100_000, (index) => `"t${index}"`)}]`), null],
  ["1,001 terms", withRaw(`"custom_vocabulary":[${many(1_001, (index) => `"t${index}"`)}]`), "custom_vocabulary"],
  ["2 MB outside the audio", withRaw(`"prompt":"${"x".repeat(2_000_000)}"`), null],
  ["BAD-188 base64 and URL", JSON.stringify({ audio: { base64: BASE64, url: "https://a.example/a.wav" } }), "audio"],
  ["base64 and data", JSON.stringify({ audio: { base64: BASE64, data: BASE64 } }), "audio"],
  ["no audio", '{"language":"en"}', "audio"],
  ["audio null", '{"audio":null}', "audio"],
  ["an empty audio object", '{"audio":{}}', "audio"],
  ["base64 null", '{"audio":{"base64":null}}', "audio"],
  ["audio a number", '{"audio":5}', "audio"],
  ["audio a list", '{"audio":["AAAA"]}', "audio"],
  ["base64 a number", '{"audio":{"base64":5}}', "audio.base64"],
  ["base64 an object", '{"audio":{"base64":{"base64":"AAAA"}}}', "audio.base64"],
  ["an unknown member of audio", '{"audio":{"base64":"AAAA","codec":"x"}}', "audio.codec"],
  ["an unknown field", withRaw('"temperature":0'), "temperature"],
  ["a dotted field, which is the form's spelling", '{"audio.base64":"AAAA"}', "audio.base64"],
  ["the key twice", withRaw('"language":"en","language":"en"'), null],
  ["the key twice, once escaped", withRaw('"language":"en","langu\\u0061ge":"de"'), null],
  ["audio twice", '{"audio":"AAAA","audio":"AAAA"}', null],
  ["base64 twice", '{"audio":{"base64":"AAAA","base64":"AAAA"}}', null],
  ["__proto__", withRaw('"__proto__":{"polluted":1}'), null],
  ["constructor", withRaw('"constructor":1'), "constructor"],
  ["a list", '[{"audio":"AAAA"}]', null],
  ["a string", '"AAAA"', null],
  ["a number", "1", null],
  ["null", "null", null],
  ["two values", '{"audio":"AAAA"}{"audio":"AAAA"}', null],
  ["two strings where one belongs", '{"audio":"AAAA""AAAA"}', null],
  ["a string after the audio", '{"audio":{"base64":"AAAA" "BBBB"}}', null],
  ["mismatched brackets", '{"audio":{"base64":"AAAA"]}', null],
  ["a body cut inside the audio", '{"audio":{"base64":"AAAA', null],
  ["a body cut in an escape", '{"audio":{"base64":"AAAA\\u00', null],
  ["a body cut after the audio", '{"audio":{"base64":"AAAA"', null],
  ["an escape that JSON does not have, in the audio", '{"audio":"AAAA\\x"}', null],
  ["a malformed unicode escape in the audio", '{"audio":"AAAA\\u00g0"}', null],
  ["a raw line break in the audio", '{"audio":"AAAA\nAAAA"}', "audio"],
  ["BAD-202 length mod 4 = 1", '{"audio":{"base64":"AAAAA"}}', "audio.base64"],
  ["BAD-203 extra padding", '{"audio":{"base64":"AAAA===="}}', "audio.base64"],
  ["padding that does not fit", '{"audio":{"base64":"AAA=="}}', "audio.base64"],
  ["padding after a whole group", '{"audio":{"base64":"AAAA="}}', "audio.base64"],
  ["missing second padding", '{"audio":{"data":"AA="}}', "audio.data"],
  ["padding in the middle", '{"audio":{"data":"AA==AAAA"}}', "audio.data"],
  ["both alphabets", '{"audio":{"base64":"AA+/AA-_"}}', "audio.base64"],
  ["a character that is no base64", '{"audio":"AA*A"}', "audio"],
  ["a character outside ASCII", '{"audio":"AAéA"}', "audio"],
  ["an escaped character outside ASCII", '{"audio":"AA\\u0141A"}', "audio"],
  ["an escaped quote", '{"audio":"AA\\"A"}', "audio"],
  ["a data: prefix without base64", '{"audio":"data:audio/wav,AAAA"}', "audio"],
  ["a data: prefix without end", `{"audio":"data:audio/wav;${"x".repeat(600)}"}`, "audio"],
  ["a second data: prefix", '{"audio":"data:audio/wav;base64,data:audio/wav;base64,AAAA"}', "audio"],
  ["BAD-211 20 MB of =", `{"audio":{"base64":"${"=".repeat(20_000_000)}"}}`, "audio.base64"],
];
for (const [name, body, param] of BAD_BODIES) {
  test(`request-body.json-strict, api.json-hostile, request-body.json-bounds, request-body.one-source, request-body.base64: ${name}: 400, nothing spooled remains`, async (t) => {
    const bench = await openBench(t);
    const bytes = Buffer.from(body);
    const error = await bench.refuses(request(cut(bytes, 65_536), JSON_TYPE), "INVALID_REQUEST", 40_000_000);
    assert.equal(error.param, param, error.message);
    assert.ok(Array.isArray(error.details?.["issues"]) && error.details["issues"].length <= 50);
    assert.equal(Reflect.get({}, "polluted"), undefined);
    if (bytes.length < 20_000) await bench.refuses(request(cut(bytes, 1), JSON_TYPE), "INVALID_REQUEST", 40_000_000);
  });
}

const CONTROLS: readonly [string, string][] = [
  ["provider", '{"audio":"AAAA","provider":"openai"}'],
  ["model", '{"model":"whisper-1"}'],
  ["model", '{"audio":"AAAA","provider":null,"model" : "x"}'],
  ["model", '{"audio":"****","nonsense":1,"language":"!","model":"x"}'],
  ["model", '{"audio":"AAAA","m\\u006fdel":"x"}'],
  ["model", '{"model":"x","audio":"AAAA",}'],
  ["audio.provider", '{"audio":{"base64":"AAAA","provider":"x"}}'],
  ["audio.model", '{"audio":{"model":"x","base64":"****"}}'],
  ["audio.model", '{"audio":"AAAA","audio.model":"x"}'],
];
for (const [name, body] of CONTROLS) {
  test(`request-body.route-control: ${body} is route control, whatever else is wrong`, async (t) => {
    const bench = await openBench(t);
    for (const size of [1, 1_000]) {
      const error = await bench.refuses(
        request(cut(Buffer.from(body), size), JSON_TYPE),
        "ROUTE_CONTROL_FIELD_REJECTED",
      );
      assert.equal(error.param, name);
    }
  });
}

test("request-body.route-control: route control is a name of the body or of audio, not one deeper down", async (t) => {
  const bench = await openBench(t);
  const error = await bench.refuses(jsonRequest('{"audio":"AAAA","prompt":{"model":"x"}}'), "INVALID_REQUEST");
  assert.equal(error.param, "prompt");
});

test("request-body.query: a query parameter is 400, one of route control wins over everything in the body", async (t) => {
  const bench = await openBench(t);
  const body = Buffer.from('{"audio":"AAAA"}');
  for (const name of ["provider", "model", "audio.provider", "audio.model"]) {
    const error = await bench.refuses(request(body, JSON_TYPE, { x: "1", [name]: "" }), "ROUTE_CONTROL_FIELD_REJECTED");
    assert.equal(error.param, name);
  }
  assert.equal(
    (await bench.refuses(request(body, JSON_TYPE, { language: "en" }), "INVALID_REQUEST")).param,
    "language",
  );
  await bench.refuses(
    request(Buffer.from('{"audio":"AAAA","model":"x"}'), JSON_TYPE, { y: "1" }),
    "ROUTE_CONTROL_FIELD_REJECTED",
  );
});

test("request-body.not-sent: BAD-186 null counts as not sent, route control too, and custom_vocabulary and keyterms stay separate fields", async (t) => {
  const bench = await openBench(t);
  const body = {
    model: null,
    provider: null,
    "audio.model": null,
    audio: { model: null, base64: BASE64, url: null, filename: null, provider: null },
    language: null,
    keyterms: ["a"],
    custom_vocabulary: ["b"],
  };
  for (const size of [1, 1_000]) {
    const read = await bench.read(request(cut(Buffer.from(JSON.stringify(body)), size), JSON_TYPE));
    assert.deepEqual(read.fields, { keyterms: ["a"], custom_vocabulary: ["b"] });
    assert.deepEqual(await audioOf(read), AUDIO);
  }
});

test("remote-audio.sent-as-given: audio.url is read as the string it is", async (t) => {
  const bench = await openBench(t);
  const url = "https://a.example/a.wav?X-Sig=%2F\u00e9";
  const { audio } = await bench.read(jsonRequest({ audio: { url } }));
  assert.deepEqual(audio, { kind: "url", url, mediaTypeHint: null, fileNameHint: null });
});

test("request-body.data-prefix, request-body.file-name: BAD-191 audio.filename is a hint without its path; audio.media_type overrides a data: prefix", async (t) => {
  const bench = await openBench(t);
  const audio = { filename: "../../a.wav", media_type: "audio/webm", data: `data:audio/wav;base64,${BASE64}` };
  const read = await bench.read(jsonRequest({ audio }));
  assert.ok(read.audio.kind === "spooled");
  assert.deepEqual(
    [read.audio.fileNameHint, read.audio.mediaTypeHint, read.audio.param],
    ["a.wav", "audio/webm", "audio.data"],
  );
  assert.match((await readdir(bench.directory)).join(" "), /^audio-[-0-9a-f]+\.spool$/);
  assert.deepEqual(await audioOf(read), AUDIO);
});

const SPELLINGS: readonly [string, string][] = [
  ["BAD-199 the URL-safe alphabet", AUDIO.toString("base64url")],
  ["the URL-safe alphabet with padding", `${AUDIO.toString("base64url")}=`],
  ["no padding", BASE64.replace(/=+$/, "")],
  ["BAD-205 line breaks every 76 characters", BASE64.replace(/.{76}/g, "$&\r\n")],
  ["tabs and spaces, also at the ends", ` \t${BASE64.replace(/.{50}/g, "$& \t")}\n`],
  ["a data: prefix", `data:audio/wav;base64,${BASE64}`],
  ["a data: prefix with parameters, in capitals", `DATA:audio/webm;codecs=opus;BASE64,${BASE64}`],
  ["a data: prefix without a type", `data:;base64,${BASE64}`],
  ["white space before a data: prefix", `\n data:audio/wav;base64,${BASE64}`],
];
for (const [name, text] of SPELLINGS) {
  test(`request-body.base64, request-body.data-prefix: ${name}: the same audio from JSON and from a form, in pieces of any size`, async (t) => {
    const bench = await openBench(t);
    const escaped = JSON.stringify({ audio: { base64: text } })
      .replaceAll("/", "\\/")
      .replaceAll("+", "\\u002b")
      .replaceAll("A", "\\u0041");
    for (const size of [1, 3, 77, 100_000]) {
      assert.deepEqual(
        await audioOf(await bench.read(request(cut(Buffer.from(JSON.stringify({ audio: text })), size), JSON_TYPE))),
        AUDIO,
      );
      assert.deepEqual(await audioOf(await bench.read(request(cut(Buffer.from(escaped), size), JSON_TYPE))), AUDIO);
      const body = form([{ name: "audio.base64", value: text }]);
      assert.deepEqual(await audioOf(await bench.read(formRequest(cut(body, size)))), AUDIO);
    }
  });
}

test("request-body.data-prefix: a value that merely begins like a data: prefix is base64", async (t) => {
  const bench = await openBench(t);
  for (const text of ["data", "dat", "d+==", "dataAAAA"]) {
    assert.deepEqual(await audioOf(await bench.read(jsonRequest({ audio: text }))), Buffer.from(text, "base64"));
  }
});

test("request-body.empty-audio: BAD-197 empty base64 and an empty file are audio of no bytes, for measuring to refuse", async (t) => {
  const bench = await openBench(t);
  for (const wanted of [
    jsonRequest({ audio: { base64: "" } }),
    jsonRequest({ audio: "" }),
    jsonRequest({ audio: { data: " " } }),
    jsonRequest({ audio: "data:audio/wav;base64," }),
    formRequest(form([file("")])),
  ]) {
    const read = await bench.read(wanted);
    assert.ok(read.audio.kind === "spooled");
    assert.deepEqual(
      [read.audio.spooled.sizeBytes, await read.audio.spooled.sha256()],
      [0, createHash("sha256").digest("hex")],
    );
    assert.equal((await audioOf(read)).length, 0);
  }
});

test("request-body.base64: BAD-209 hexadecimal text is base64 of something else, for the recognition of formats to refuse", async (t) => {
  const bench = await openBench(t);
  const read = await bench.read(jsonRequest({ audio: AUDIO.toString("hex") }));
  assert.notDeepEqual(await audioOf(read), AUDIO);
});

test("request-body.json-order: the order and spelling of JSON never matter: audio first, last, or under an escaped name", async (t) => {
  const bench = await openBench(t);
  const bodies = [
    `{"audio":{"base64":"${BASE64}"},"language":"en"}`,
    ` {\n"language" : "en" , "audio" : { "media_type":null , "b\\u0061se64" : "${BASE64}" } } \r\n`,
    `{"language":"en","\\u0061udio":"${BASE64}"}`,
  ];
  for (const body of bodies) {
    for (const size of [1, 10_000]) {
      const read = await bench.read(request(cut(Buffer.from(body), size), JSON_TYPE));
      assert.deepEqual(read.fields, { language: "en" });
      assert.deepEqual(await audioOf(read), AUDIO);
    }
  }
});
