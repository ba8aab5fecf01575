// What common HTTP clients write into a form by default: charsets of text fields, file names of every alphabet, empty fields.
import assert from "node:assert/strict";
import { test } from "node:test";
import { safeFileName } from "../../../src/http/body/form/file-name.ts";
import { audioOf, BOUNDARY, cut, field, file, form, formRequest, jsonRequest, openBench, type Part } from "./bodies.ts";

const AUDIO = Buffer.from("RIFF and some bytes");
const LATIN1_PROMPT = Buffer.from("Grüße", "latin1");

function typedField(name: string, type: string, value: string | Uint8Array): Part {
  const headers = `Content-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: 8bit`;
  return { headers, value };
}

/** A header block of raw bytes in front of the audio. */
function fileWithHeader(disposition: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; `),
    disposition,
    Buffer.from("\r\nContent-Type: audio/wav\r\n\r\n"),
    AUDIO,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}

const CHARSETS: readonly [string, Uint8Array, string][] = [
  ["text/plain; charset=ISO-8859-1", Buffer.from("ASCII"), "ASCII"],
  ["text/plain; charset=ISO-8859-1", LATIN1_PROMPT, "Grüße"],
  ['text/plain;charset="iso-8859-1"', LATIN1_PROMPT, "Grüße"],
  ["Text/Plain; Charset=Latin1", LATIN1_PROMPT, "Grüße"],
  ["text/plain; charset=windows-1252", Buffer.from([0x80, 0x20, 0xfc]), "€ ü"],
  ["text/plain; charset=cp1252", Buffer.from([0x93, 0x94]), "“”"],
  ["text/plain; charset=ISO-8859-1", Buffer.from([0x80]), "\u0080"],
  ["text/plain; charset=US-ASCII", Buffer.from("plain"), "plain"],
  ["text/plain; charset=utf8", Buffer.from("Grüße 👋"), "Grüße 👋"],
  ["text/plain; charset=UTF-8", Buffer.from("Grüße 👋"), "Grüße 👋"],
  ["text/plain", Buffer.from("Grüße 👋"), "Grüße 👋"],
];
for (const [type, bytes, text] of CHARSETS) {
  test(`request-body.field-charset: FLD-05: a text field of type ${type} with the bytes ${Buffer.from(bytes).toString("hex")} is decoded by its charset`, async (t) => {
    const bench = await openBench(t);
    const body = form([file(AUDIO), typedField("prompt", type, bytes), typedField("language", type, "de")]);
    for (const size of [3, 100_000]) {
      const read = await bench.read(formRequest(cut(body, size)));
      assert.deepEqual(read.fields, { prompt: text, language: "de" });
      await audioOf(read);
    }
  });
}

test("request-body.field-charset: FLD-05: base64 audio is accepted from a field of any supported charset", async (t) => {
  const bench = await openBench(t);
  const part = typedField("audio.base64", "text/plain; charset=ISO-8859-1", AUDIO.toString("base64"));
  assert.deepEqual(await audioOf(await bench.read(formRequest(form([part])))), AUDIO);
});

test("request-body.field-charset: FLD-05: `_charset_`, or the charset of the form itself, applies to every field that declares none", async (t) => {
  const bench = await openBench(t);
  const parts: Part[] = [file(AUDIO), { name: "prompt", value: LATIN1_PROMPT }];
  for (const place of [0, parts.length]) {
    const read = await bench.read(formRequest(form(parts.toSpliced(place, 0, field("_charset_", "ISO-8859-1")))));
    assert.deepEqual(read.fields, { prompt: "Grüße" });
    await audioOf(read);
  }
  const type = `multipart/form-data; boundary=${BOUNDARY}; charset=ISO-8859-1`;
  const read = await bench.read(formRequest(form(parts), type));
  assert.deepEqual(read.fields, { prompt: "Grüße" });
  await audioOf(read);
  const own = typedField("prompt", "text/plain; charset=utf-8", "Grüße");
  const declared = await bench.read(formRequest(form([file(AUDIO), own, field("_charset_", "windows-1252")]), type));
  assert.deepEqual(declared.fields, { prompt: "Grüße" }, "the part's own charset counts first");
  await audioOf(declared);
});

test("request-body.field-charset: FLD-05: another charset is 400 for a field and 415 for the whole form, and named; so are bytes that the charset does not have", async (t) => {
  const bench = await openBench(t);
  for (const charset of ["utf-16", "Shift_JIS", "iso-8859-2", ""]) {
    const part = typedField("prompt", `text/plain; charset=${charset}`, "x");
    const error = await bench.refuses(formRequest(form([file(AUDIO), part])), "INVALID_REQUEST");
    assert.equal(error.param, "prompt");
    assert.ok(error.message.includes(JSON.stringify(charset)), error.message);
    if (charset === "") continue;
    const listed = await bench.refuses(
      formRequest(form([file(AUDIO), field("_charset_", charset)])),
      "INVALID_REQUEST",
    );
    assert.equal(listed.param, "_charset_");
    const type = `multipart/form-data; boundary=${BOUNDARY}; charset=${charset}`;
    const whole = await bench.refuses(formRequest(form([file(AUDIO)]), type), "UNSUPPORTED_MEDIA_TYPE");
    assert.ok(whole.message.includes(JSON.stringify(charset)), whole.message);
  }
  const part = typedField("prompt", "text/plain; charset=utf-8", LATIN1_PROMPT);
  assert.equal((await bench.refuses(formRequest(form([file(AUDIO), part])), "INVALID_REQUEST")).param, "prompt");
});

const CJK = "漢".repeat(125);
const FILE_NAMES: readonly [string, string | Buffer, string | null][] = [
  ["125 CJK characters", `filename="${CJK}.wav"`, `${"漢".repeat(83)}.wav`],
  ["256 bytes without an extension", `filename="${"x".repeat(256)}"`, "x".repeat(255)],
  ["filename* in ISO-8859-1", "filename*=ISO-8859-1''Gr%FC%DFe.wav", "Grüße.wav"],
  ["filename* in ISO-8859-1 with a plain name", "filename=\"a.wav\"; filename*=iso-8859-1'de'Gr%FC.wav", "Grü.wav"],
  ["filename* in windows-1252", "filename*=windows-1252''%80.wav", "€.wav"],
  ["filename* in another charset", "filename*=koi8-r''%C1.wav; filename=\"b.wav\"", "b.wav"],
  ["filename* in another charset alone", "filename*=koi8-r''%C1.wav", null],
  ["filename* with a bare %", "filename*=UTF-8''100%25 and 50%.wav", "100% and 50%.wav"],
  ["filename* with a bare % in quotes", "filename*=\"UTF-8''50%zz.wav\"", "50%zz.wav"],
  ["filename* whose bytes are not UTF-8", "filename*=UTF-8''Gr%FC.wav", "Gr.wav"],
  ["filename* without a charset", 'filename*=a.wav; filename="b.wav"', "b.wav"],
  ["a bare % in a plain name", 'filename="50%.wav"', "50%.wav"],
  ["Latin-1 bytes", Buffer.from('filename="Grüße.wav"', "latin1"), "Gre.wav"],
  // 表.wav and 表: the second byte of 表 is a backslash.
  ["Shift_JIS bytes", Buffer.from("66696c656e616d653d22955c2e77617622", "hex"), ".wav"],
  ["Shift_JIS bytes that end with a backslash", Buffer.from("66696c656e616d653d22955c22", "hex"), null],
  ["control characters", 'filename="a\u0001b\u007f\tc.wav"', "abc.wav"],
  ["an unquoted name with blanks", "filename=my own file.wav", "my own file.wav"],
  ["a quote inside", 'filename="my "own" file.wav"', null],
  ["no second quote", 'filename="a.wav', null],
  ["two names", 'filename="a.wav"; filename="b.wav"', "a.wav"],
  ["a path", 'filename="../../etc/passwd"', "passwd"],
  ["an RFC 2047 word and filename*", "filename=\"=?utf-8?B?5aSn?=\"; filename*=utf-8''%E5%A4%A7.wav", "大.wav"],
];
for (const [name, parameters, hint] of FILE_NAMES) {
  test(`request-body.file-name: FLD-06: a file name is only a hint and never refuses the request: ${name}`, async (t) => {
    const bench = await openBench(t);
    const body = fileWithHeader(Buffer.isBuffer(parameters) ? parameters : Buffer.from(parameters));
    for (const size of [1, 100_000]) {
      const read = await bench.read(formRequest(cut(body, size)));
      assert.ok(read.audio.kind === "spooled");
      assert.equal(read.audio.fileNameHint, hint);
      assert.deepEqual(await audioOf(read), AUDIO);
    }
  });
}

test("request-body.file-name, request-body.media-type-hint: FLD-06: audio.filename and audio.media_type of any length and content are hints, too", async (t) => {
  const bench = await openBench(t);
  const audio = { base64: AUDIO.toString("base64"), filename: `${CJK}\0.wav`, media_type: "no type \0".repeat(100) };
  const read = await bench.read(jsonRequest({ audio }));
  assert.ok(read.audio.kind === "spooled");
  assert.equal(read.audio.fileNameHint, `${"漢".repeat(83)}.wav`);
  assert.equal(read.audio.mediaTypeHint, null);
  assert.deepEqual(await audioOf(read), AUDIO);
});

test("request-body.file-name: FLD-06: a name that hides another parameter, a line end or another field is refused", async (t) => {
  const bench = await openBench(t);
  for (const disposition of ['form-data; filename="x; name="file"', 'form-data; name="file"; filename="a\nb"'])
    await bench.refuses(
      formRequest(form([{ headers: `Content-Disposition: ${disposition}`, value: AUDIO }])),
      "INVALID_REQUEST",
    );
});

test("request-body.file-name: FLD-06: a cut name keeps its extension and whole characters, within 255 bytes", () => {
  for (const stem of ["👋".repeat(100), "é".repeat(200), "a".repeat(300)]) {
    const name = safeFileName(`${stem}.webm`) ?? "";
    assert.ok(Buffer.byteLength(name) <= 255 && name.endsWith(".webm") && name.isWellFormed(), name);
  }
});

test("request-body.not-sent, request-body.route-control: empty form fields and an empty prompt count as not sent; the four route-control names are refused, empty or not", async (t) => {
  const bench = await openBench(t);
  const names = ["prompt", "language", "timestamps", "diarization", "speaker_count_hint", "keyterms", "keyterms[]"];
  const empty = [...names, "redaction", "purpose", "audio.url", "audio.base64", "audio.filename", "audio.media_type"];
  for (const name of empty) {
    const read = await bench.read(formRequest(form([field(name, ""), file(AUDIO)])));
    assert.deepEqual(read.fields, {}, name);
    assert.deepEqual(await audioOf(read), AUDIO);
  }
  const base64 = AUDIO.toString("base64");
  const read = await bench.read(jsonRequest({ prompt: "", audio: { base64 } }));
  assert.deepEqual(read.fields, {});
  await audioOf(read);
  for (const name of ["provider", "model", "audio.provider", "audio.model"]) {
    const error = await bench.refuses(
      formRequest(form([file(AUDIO), field(name, "")])),
      "ROUTE_CONTROL_FIELD_REJECTED",
    );
    assert.equal(error.param, name);
  }
  await bench.refuses(jsonRequest({ model: "", audio: { base64 } }), "ROUTE_CONTROL_FIELD_REJECTED");
  assert.equal((await bench.refuses(formRequest(form([field("audio.base64", "")])), "INVALID_REQUEST")).param, "file");
});
