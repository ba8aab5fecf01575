// multipart/form-data bodies of POST /v1/transcription (BAD-096 to BAD-150).
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { z } from "zod";
import type { GatewayError } from "../../../src/contract/errors.ts";
import { transcriptionFields } from "../../../src/contract/transcription/transcription-fields.ts";
import { readSubmission } from "../../../src/http/body/read-audio.ts";
import { audioOf, BOUNDARY, cut, field, file, form, formRequest, openBench, type Part, request } from "./bodies.ts";

const AUDIO = randomBytes(5_000);

test("request-body.max-audio-bytes, request-body.refused-while-reading: BAD-096 a file part of exactly max_audio_bytes is accepted, one byte more is 413 while the body streams", async (t) => {
  const bench = await openBench(t);
  const submission = await bench.read(formRequest(cut(form([file(AUDIO)]), 700)), 5_000);
  assert.deepEqual(await audioOf(submission), AUDIO);
  await bench.isEmpty();
  let asked = 0;
  function* endless(): Generator<Buffer> {
    yield form([file(randomBytes(5_001))], "");
    for (; asked < 1_000; asked += 1) yield randomBytes(1_000);
  }
  const error = await bench.refuses(formRequest(endless()), "AUDIO_TOO_LARGE", 5_000);
  assert.equal(error.param, "file");
  assert.equal(error.details?.["max_audio_bytes"], 5_000);
  assert.ok(Number(error.details?.["received_bytes"]) > 5_000);
  assert.ok(asked < 200, `stops reading, yet read ${asked} more chunks`);
});

test("request-body.refused-while-reading: after a refusal in mid-body the request stream stays as it is, for the answer still goes out", async (t) => {
  const bench = await openBench(t);
  for (const [body, maxAudioBytes] of [
    [[form([file(AUDIO)], ""), AUDIO], 4_000],
    [[form([{ headers: "nonsense", value: "" }], ""), AUDIO], 10_000],
  ] as const) {
    const wanted = formRequest(body);
    await bench.refuses(wanted, maxAudioBytes === 4_000 ? "AUDIO_TOO_LARGE" : "INVALID_REQUEST", maxAudioBytes);
    assert.equal(wanted.body.destroyed, false);
    assert.equal(wanted.body.listenerCount("readable"), 0);
  }
});

test("request-body.max-audio-bytes: a base64 field counts its characters, N accepted and N + 1 refused", async (t) => {
  const bench = await openBench(t);
  for (const name of ["audio.base64", "audio.data", "audio"]) {
    const text = AUDIO.toString("base64");
    assert.deepEqual(await audioOf(await bench.read(formRequest(form([field(name, text)])), text.length)), AUDIO);
    const error = await bench.refuses(formRequest(form([field(name, text)])), "AUDIO_TOO_LARGE", text.length - 1);
    assert.equal(error.param, name);
  }
});

const BEFORE_THE_FILE: readonly [string, Part[], string][] = [
  ["an unknown field", [field("colour", "red")], "colour"],
  ["a duplicate", [field("purpose", "a"), field("purpose", "b")], "purpose"],
  ["a field with a file name", [{ name: "language", fileName: "a", value: "en" }], "language"],
  ["a text outside its schema", [field("language", "!")], "language"],
  ["a text of another type", [field("diarization", "maybe")], "diarization"],
  ["a member of audio outside its schema", [field("audio.url", "x".repeat(8_193))], "audio.url"],
];
for (const [name, parts, param] of BEFORE_THE_FILE) {
  test(`request-body.faults-before-size: ${name} is judged before the size that is exceeded behind it`, async (t) => {
    const bench = await openBench(t);
    const error = await bench.refuses(formRequest(form([...parts, file(AUDIO)])), "INVALID_REQUEST", 4_000);
    assert.equal(error.param, param);
  });
}

test("request-body.faults-before-size: before the size all faults so far are reported, and nothing of what may have been on its way", async (t) => {
  const bench = await openBench(t);
  const schema = transcriptionFields.extend({ model: z.string() });
  const read = (parts: readonly Part[]) =>
    readSubmission(schema, formRequest(form([...parts, file(AUDIO)])), { spool: bench.spool, maxAudioBytes: 4_000 });
  await assert.rejects(read([field("language", "en")]), { code: "AUDIO_TOO_LARGE" });
  await assert.rejects(read([field("x", ""), field("language", "!")]), ({ details }: GatewayError) => {
    const issues = details?.["issues"] as readonly { readonly param: string }[];
    assert.deepEqual(
      issues.map(({ param }) => param),
      ["x", "language"],
    );
    return true;
  });
  await bench.isEmpty();
});

test("request-body.whole-form: the whole form is bounded, whatever it consists of", async (t) => {
  const bench = await openBench(t);
  const preamble = Buffer.alloc(100_000, "x");
  await bench.refuses(formRequest([preamble, form([file(AUDIO)])]), "AUDIO_TOO_LARGE", 10_000);
});

test("request-body.declared-length: BAD-097 a declared length above the limit and its framing allowance is refused without reading", async (t) => {
  const bench = await openBench(t);
  let isRead = false;
  function* body(): Generator<Buffer> {
    isRead = true;
    yield form([file(AUDIO)]);
  }
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  const error = await bench.refuses(
    request(body(), { "content-type": type, "content-length": String(10_000 + 65_537) }),
    "AUDIO_TOO_LARGE",
    10_000,
  );
  assert.deepEqual(error.details, { max_audio_bytes: 10_000, received_bytes: 75_537 });
  assert.equal(isRead, false);
  const taken = await bench.read(
    request(form([file(AUDIO)]), { "content-type": type, "content-length": String(10_000 + 65_536) }),
    10_000,
  );
  await audioOf(taken);
});

const TYPES: readonly [string, string, "INVALID_REQUEST" | "UNSUPPORTED_MEDIA_TYPE"][] = [
  ["BAD-108 no boundary", "multipart/form-data", "INVALID_REQUEST"],
  ["BAD-109 empty boundary", 'multipart/form-data; boundary=""', "INVALID_REQUEST"],
  ["BAD-109 empty boundary unquoted", "multipart/form-data; boundary=", "INVALID_REQUEST"],
  ["BAD-112 other boundary than in the body", "multipart/form-data; boundary=other", "INVALID_REQUEST"],
  ["BAD-150 multipart/mixed", `multipart/mixed; boundary=${BOUNDARY}`, "UNSUPPORTED_MEDIA_TYPE"],
  ["BAD-150 multipart/related", `multipart/related; boundary=${BOUNDARY}`, "UNSUPPORTED_MEDIA_TYPE"],
  ["BAD-150 multipart/form-datax", `multipart/form-datax; boundary=${BOUNDARY}`, "UNSUPPORTED_MEDIA_TYPE"],
  ["boundary of 71 characters", `multipart/form-data; boundary=${"b".repeat(71)}`, "INVALID_REQUEST"],
  ["boundary outside RFC 2046", 'multipart/form-data; boundary="a*b"', "INVALID_REQUEST"],
  ["boundary with a blank at its end", 'multipart/form-data; boundary="a "', "INVALID_REQUEST"],
  ["boundary with a blank and no quotes", "multipart/form-data; boundary=a b", "INVALID_REQUEST"],
  ["boundary without its second quote", 'multipart/form-data; boundary="a', "INVALID_REQUEST"],
  ["boundary by its name alone", "multipart/form-data; boundary", "INVALID_REQUEST"],
  ["no boundary behind a semicolon", "multipart/form-data;", "INVALID_REQUEST"],
  ["two semicolons at the end", `multipart/form-data; boundary=${BOUNDARY};;`, "INVALID_REQUEST"],
  ["multipart/mixed with a boundary by its name alone", "multipart/mixed; boundary", "UNSUPPORTED_MEDIA_TYPE"],
  [
    "two types in one header",
    `multipart/form-data, multipart/form-data; boundary=${BOUNDARY}`,
    "UNSUPPORTED_MEDIA_TYPE",
  ],
  ["two boundaries", `multipart/form-data; boundary=${BOUNDARY}; boundary=${BOUNDARY}`, "UNSUPPORTED_MEDIA_TYPE"],
  ["other parameter", `multipart/form-data; boundary=${BOUNDARY}; x=1`, "UNSUPPORTED_MEDIA_TYPE"],
];
for (const [name, type, code] of TYPES) {
  test(`request-body.form-type: ${name}: ${code}`, async (t) => {
    await (await openBench(t)).refuses(formRequest(form([file(AUDIO)]), type), code);
  });
}

const long = (length: number) => "x".repeat(length);
const disposition = 'Content-Disposition: form-data; name="prompt"';
const plain = (headers: string): Part => ({ headers, value: "x" });
const BAD_FORMS: readonly [string, Buffer, string | null][] = [
  ["BAD-114 only the closing boundary", form([]), "file"],
  ["no file among the parts", form([field("language", "en")]), "file"],
  ["BAD-119 two parts named file", form([file(AUDIO), file(AUDIO)]), "file"],
  ["BAD-122 file as a plain field", form([field("file", "RIFF")]), "file"],
  [
    "BAD-123 purpose twice with different values",
    form([file(AUDIO), field("purpose", "a"), field("purpose", "b")]),
    "purpose",
  ],
  ["purpose twice with the same value", form([file(AUDIO), field("purpose", "a"), field("purpose", "a")]), "purpose"],
  [
    "BAD-124 language 1,000 times",
    form([file(AUDIO), ...Array.from({ length: 1_000 }, () => field("language", "en"))]),
    null,
  ],
  [
    "BAD-125 10,000 tiny parts",
    form([file(AUDIO), ...Array.from({ length: 10_000 }, (_, i) => field(`f${i}`, ""))]),
    "f0",
  ],
  ["BAD-126 a part with 5,000 headers", form([plain(`${disposition}${"\r\nX: y".repeat(5_000)}`)]), null],
  [
    "a part with 17 headers",
    form([file(AUDIO), plain(`${disposition}${Array.from({ length: 16 }, (_, i) => `\r\nX-${i}: y`).join("")}`)]),
    null,
  ],
  ["BAD-127 a part header of 1 MB without a colon", form([plain(long(1_000_000))]), null],
  ["a part header without a colon", form([file(AUDIO), plain(`${disposition}\r\nnocolon`)]), null],
  ["BAD-129 a folded header", form([file(AUDIO), plain('Content-Disposition: form-data;\r\n name="prompt"')]), null],
  ["a first header line with a leading space", form([file(AUDIO), plain(` ${disposition}`)]), null],
  ["BAD-130 no Content-Disposition", form([file(AUDIO), plain("Content-Type: text/plain")]), null],
  ["no header at all", Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n\r\nx\r\n`), form([file(AUDIO)])]), null],
  ["Content-Disposition twice", form([file(AUDIO), plain(`${disposition}\r\n${disposition}`)]), null],
  [
    "Content-Disposition of another kind",
    form([file(AUDIO), plain('Content-Disposition: attachment; name="prompt"')]),
    null,
  ],
  ["Content-Disposition without a name", form([file(AUDIO), plain("Content-Disposition: form-data")]), null],
  ["an empty name", form([file(AUDIO), plain('Content-Disposition: form-data; name=""')]), null],
  ["two names", form([file(AUDIO), plain(`${disposition}; name="language"`)]), null],
  ["BAD-133 a field name of 1 MB", form([file(AUDIO), field(long(1_000_000), "x")]), null],
  ["a field name of 101 bytes", form([file(AUDIO), field(long(101), "x")]), null],
  ["BAD-134 a prompt of 2 MB", form([file(AUDIO), field("prompt", long(2_000_000))]), "prompt"],
  ["a prompt of 65,537 bytes", form([file(AUDIO), field("prompt", long(65_537))]), "prompt"],
  ["BAD-135 a field named __proto__", form([file(AUDIO), field("__proto__", '{"polluted":1}')]), "__proto__"],
  ["BAD-135 a field named constructor", form([file(AUDIO), field("constructor", "x")]), "constructor"],
  ["BAD-135 a field named prototype", form([file(AUDIO), field("prototype", "x")]), "prototype"],
  ["audio.constructor", form([file(AUDIO), field("audio.constructor", "x")]), "audio.constructor"],
  ["BAD-136 a name nested 1,000 levels", form([file(AUDIO), field(`a${"[b]".repeat(1_000)}`, "x")]), null],
  ["a name nested a few levels", form([file(AUDIO), field("a[b][c]", "x")]), "a[b][c]"],
  ["BAD-142 a file name of 10 kB", form([file(AUDIO, long(10_000))]), null],
  ["BAD-148 a part of type message/rfc822", form([file(AUDIO, "a.wav", "message/rfc822")]), "file"],
  ["BAD-148 the same behind what cannot be read", form([file(AUDIO, "a.wav", "Message/rfc822;x;y")]), "file"],
  ["a field of a type that cannot be read", form([file(AUDIO), { ...field("prompt", "x"), type: "text" }]), "prompt"],
  ["BAD-148 a part of type multipart/mixed", form([file(AUDIO, "a.wav", "multipart/mixed; boundary=x")]), "file"],
  [
    "a part with a Content-Transfer-Encoding",
    form([
      {
        headers: 'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Transfer-Encoding: base64',
        value: "AAAA",
      },
    ]),
    "file",
  ],
  ["a field that is not UTF-8", form([file(AUDIO), { name: "prompt", value: Buffer.from([0xc3, 0x28]) }]), "prompt"],
  ["no closing boundary", form([file(AUDIO)], ""), null],
  ["a body cut inside the file", form([file(AUDIO)]).subarray(0, 3_000), null],
  ["a closing boundary cut in its middle", form([file(AUDIO)], `--${BOUNDARY}-`), null],
  [
    "a boundary line that continues",
    Buffer.concat([form([file(AUDIO)], ""), Buffer.from(`--${BOUNDARY}x\r\n`), form([])]),
    null,
  ],
  [
    "bare line feeds",
    Buffer.from(
      form([file("abc")])
        .toString()
        .replaceAll("\r\n", "\n"),
    ),
    null,
  ],
  ["an empty body", Buffer.alloc(0), null],
  ["a file and a URL", form([file(AUDIO), field("audio.url", "https://a.example/a.wav")]), "audio"],
  ["a file and base64", form([file(AUDIO), field("audio.base64", "AAAA")]), "audio"],
  ["base64 twice", form([field("audio.base64", "AAAA"), field("audio.base64", "AAAA")]), "audio.base64"],
  ["base64 with a file name", form([{ ...file("AAAA"), name: "audio.base64" }]), "audio.base64"],
  ["audio as a file part", form([{ ...file(AUDIO), name: "audio" }]), "audio"],
  ["an unknown field", form([file(AUDIO), field("temperature", "0")]), "temperature"],
  ["a field with a file name", form([file(AUDIO), { ...file("en"), name: "language" }]), "language"],
  ["diarization=yes", form([file(AUDIO), field("diarization", "yes")]), "diarization"],
  ["diarization=TRUE", form([file(AUDIO), field("diarization", "TRUE")]), "diarization"],
  ["speaker_count_hint=two", form([file(AUDIO), field("speaker_count_hint", "two")]), "speaker_count_hint"],
  ["speaker_count_hint=2.5", form([file(AUDIO), field("speaker_count_hint", "2.5")]), "speaker_count_hint"],
  ["speaker_count_hint=0x2", form([file(AUDIO), field("speaker_count_hint", "0x2")]), "speaker_count_hint"],
  ["speaker_count_hint=33", form([file(AUDIO), field("speaker_count_hint", "33")]), "speaker_count_hint"],
  ["keyterms that are half an array", form([file(AUDIO), field("keyterms", '["a"')]), "keyterms"],
  ["keyterms as two arrays", form([file(AUDIO), field("keyterms", '["a"]'), field("keyterms", '["b"]')]), "keyterms"],
  [
    "keyterms with and without brackets",
    form([file(AUDIO), field("keyterms", "a"), field("keyterms[]", "b")]),
    "keyterms",
  ],
  ["keyterms array with a number", form([file(AUDIO), field("keyterms", '["a",1]')]), "keyterms[1]"],
  ["language[]", form([file(AUDIO), field("language[]", "en")]), "language"],
  ["an unknown redaction group", form([file(AUDIO), field("redaction", "names")]), "redaction[0]"],
];
for (const [name, body, param] of BAD_FORMS) {
  test(`request-body.form-strict, request-body.form-bounds, request-body.one-source, request-body.form-values: ${name}: 400, nothing spooled remains`, async (t) => {
    const bench = await openBench(t);
    const error = await bench.refuses(formRequest(cut(body, 16_384)), "INVALID_REQUEST", 3_000_000);
    assert.equal(error.param, param, error.message);
    assert.equal(Reflect.get({}, "polluted"), undefined);
    if (body.length < 20_000) await bench.refuses(formRequest(cut(body, 7)), "INVALID_REQUEST", 3_000_000);
  });
}

for (const name of ["provider", "model", "audio.provider", "audio.model"]) {
  test(`request-body.route-control: BAD-137 BAD-138 the form field ${name} is route control, also after other faults`, async (t) => {
    const bench = await openBench(t);
    for (const parts of [
      [file(AUDIO), field(name, "openai")],
      [field(name, "openai")],
      [field("language", "!"), field("nonsense", "1"), file(AUDIO), file(AUDIO), field(name, "openai")],
      [field("audio.base64", "*"), field(name, "openai")],
      [{ ...file(AUDIO), name }],
    ]) {
      const error = await bench.refuses(formRequest(form(parts)), "ROUTE_CONTROL_FIELD_REJECTED");
      assert.equal(error.param, name);
    }
    await bench.refuses(formRequest(form([field(name, "x"), file(AUDIO)], "")), "ROUTE_CONTROL_FIELD_REJECTED");
  });
}

test("request-body.all-issues: all field faults come at once, the first as param", async (t) => {
  const bench = await openBench(t);
  const parts = [
    field("nonsense", "1"),
    field("diarization", "maybe"),
    field("speaker_count_hint", "99"),
    field("audio.base64", "?"),
  ];
  const error = await bench.refuses(formRequest(form(parts)), "INVALID_REQUEST");
  const issues = error.details?.["issues"] as { param: string }[];
  assert.deepEqual(issues.map(({ param }) => param).toSorted(), [
    "audio.base64",
    "diarization",
    "nonsense",
    "speaker_count_hint",
  ]);
  assert.equal(error.param, issues[0]?.param);
});

test("request-body.form-values, request-body.form-lists: every text form of a field means what its JSON value means", async (t) => {
  const bench = await openBench(t);
  const parts = [
    file(AUDIO, "talk.wav", "audio/x-wav"),
    field("diarization", "1"),
    field("multichannel", "false"),
    field("speaker_count_hint", "3"),
    field("keyterms", '["alpha","beta"]'),
    field("custom_vocabulary[]", "[gamma"),
    field("custom_vocabulary[]", "delta"),
    field("redaction", "true"),
    field("prompt", "Grüße 👋"),
    field("language", "de"),
    field("timestamps", "both"),
    field("audio.filename", "named.wav"),
  ];
  const submission = await bench.read(formRequest(form(parts)));
  assert.deepEqual(submission.fields, {
    diarization: true,
    multichannel: false,
    speaker_count_hint: 3,
    keyterms: ["alpha", "beta"],
    custom_vocabulary: ["[gamma", "delta"],
    redaction: true,
    prompt: "Grüße 👋",
    language: "de",
    timestamps: "both",
  });
  assert.ok(submission.audio.kind === "spooled");
  assert.deepEqual(
    [
      submission.audio.param,
      submission.audio.mediaTypeHint,
      submission.audio.fileNameHint,
      await submission.audio.spooled.sha256(),
    ],
    ["file", "audio/x-wav", "named.wav", createHash("sha256").update(AUDIO).digest("hex")],
  );
  await audioOf(submission);
  const lists: [Part[], unknown][] = [
    [[field("redaction", "pii"), field("redaction", "pci")], { redaction: ["pii", "pci"] }],
    [[field("redaction[]", "pii")], { redaction: ["pii"] }],
    [[field("redaction", '["numbers"]')], { redaction: ["numbers"] }],
    [[field("redaction", "0")], { redaction: false }],
    [[field("keyterms", "one")], { keyterms: ["one"] }],
    [[field("keyterms", "one"), field("keyterms", "two")], { keyterms: ["one", "two"] }],
  ];
  for (const [extra, expected] of lists) {
    const read = await bench.read(formRequest(form([file(AUDIO), ...extra])));
    assert.deepEqual(read.fields, expected);
    await audioOf(read);
  }
  await bench.isEmpty();
});

test("request-body.form-lists: a thousand terms of a hundred characters fit into a form as one JSON array, in any script", async (t) => {
  const bench = await openBench(t);
  for (const letter of ["x", "ж", "語"]) {
    const keyterms = Array.from({ length: 1_000 }, (_, index) => `${index} `.padEnd(100, letter));
    const parts = [file(AUDIO), field("keyterms", JSON.stringify(keyterms))];
    const submission = await bench.read(formRequest(cut(form(parts), 16_384)), 3_000_000);
    assert.deepEqual(submission.fields.keyterms, keyterms);
    await audioOf(submission);
  }
  const parts = Array.from({ length: 20 }, () => field("keyterms", "x".repeat(60_000)));
  const error = await bench.refuses(formRequest(form([file(AUDIO), ...parts])), "INVALID_REQUEST", 3_000_000);
  assert.match(error.message, /^`keyterms` makes the lists of the form longer than 1048576 bytes/);
  const lists = ["keyterms", "custom_vocabulary"].map((name) => field(name, JSON.stringify(["x"]).padEnd(600_000)));
  const both = await bench.refuses(formRequest(form([file(AUDIO), ...lists])), "INVALID_REQUEST", 3_000_000);
  assert.match(both.message, /^`custom_vocabulary` makes the lists of the form longer than 1048576 bytes/);
});

test("request-body.sources: audio.url in a form is a source of its own", async (t) => {
  const bench = await openBench(t);
  const read = await bench.read(formRequest(form([field("audio.url", "https://a.example/a.wav")])));
  const url = "https://a.example/a.wav";
  assert.deepEqual(read.audio, { kind: "url", url, mediaTypeHint: null, fileNameHint: null });
});

test("request-body.form-boundary: BAD-116 preamble and epilogue are legal and ignored", async (t) => {
  const bench = await openBench(t);
  const body = Buffer.concat([Buffer.from("This is a form.\r\n"), form([file(AUDIO)]), Buffer.from("\r\nbye --x\r\n")]);
  for (const size of [1, 13, 100_000])
    assert.deepEqual(await audioOf(await bench.read(formRequest(cut(body, size)))), AUDIO);
});

test("request-body.form-boundary: BAD-118 the boundary split at every offset gives the same audio, also audio full of its beginnings", async (t) => {
  const bench = await openBench(t);
  const near = Buffer.from(`\r\n\r\n--\r\n--${BOUNDARY.slice(0, -1)}\r\n--${BOUNDARY.slice(0, 3)}\r\r\n\r`);
  for (const audio of [near, Buffer.alloc(0), Buffer.from("\r\n"), Buffer.from("--")]) {
    const body = form([file(audio), field("language", "en")]);
    for (let at = 0; at <= body.length; at += 1) {
      const read = await bench.read(
        formRequest([body.subarray(0, at), body.subarray(at)].filter((chunk) => chunk.length > 0)),
      );
      assert.deepEqual(read.fields, { language: "en" });
      assert.deepEqual(await audioOf(read), audio, `split at ${at}`);
    }
  }
});

test("request-body.form-boundary: a preamble that begins as the boundary does is ignored, however the body is split", async (t) => {
  const bench = await openBench(t);
  for (const preamble of [`--${BOUNDARY.slice(0, -1)}\r\n`, `-\r\n`, `--${BOUNDARY.slice(0, -1)}_\r\n\r\n`, "\r\n"]) {
    const body = Buffer.concat([Buffer.from(preamble), form([file(AUDIO)])]);
    for (let at = 1; at <= preamble.length + BOUNDARY.length + 4; at += 1)
      assert.deepEqual(
        await audioOf(await bench.read(formRequest([body.subarray(0, at), body.subarray(at)]))),
        AUDIO,
        `split at ${at}`,
      );
  }
});

const NAMES: readonly [string, string, string | null][] = [
  ["BAD-140", "../../etc/passwd", "passwd"],
  ["BAD-141", "C:\\\\windows\\\\a.wav", "a.wav"],
  ["BAD-141 unescaped", "C:\\windows\\a.wav", "a.wav"],
  ["BAD-144 quotes, semicolons, emoji, RTL override", 'a;b%22c\\"d;👋\u202egpj.wav', "a;bcd;👋gpj.wav"],
  ["BAD-146", "con", "con"],
  ["BAD-146", "nul", "nul"],
  ["BAD-146", ".", null],
  ["BAD-146", "..", null],
  ["an empty file name", "", null],
];
for (const [id, name, hint] of NAMES) {
  test(`request-body.file-name: ${id} the file name ${JSON.stringify(name)} is a harmless hint and never a path`, async (t) => {
    const bench = await openBench(t);
    const read = await bench.read(formRequest(form([file(AUDIO, name)])));
    assert.ok(read.audio.kind === "spooled");
    assert.equal(read.audio.fileNameHint, hint);
    assert.match((await readdir(bench.directory)).join(" "), /^audio-[0-9a-f]{8}-[0-9]+-[0-9a-f]{32}\.spool$/);
    assert.deepEqual(await audioOf(read), AUDIO);
  });
}

test("request-body.unchosen-file: a file that was not chosen, without name and bytes, is no source next to another one, wherever it is in the form", async (t) => {
  const bench = await openBench(t);
  const unchosen = file("", "", "application/octet-stream");
  for (const place of [0, 1]) {
    const existing = (part: Part) => formRequest(form([part].toSpliced(place, 0, unchosen)));
    const { audio } = await bench.read(existing(field("audio.url", "https://a.example/a.wav")));
    assert.equal(audio.kind, "url");
    for (const part of [file(AUDIO), file(AUDIO, ""), field("audio.base64", AUDIO.toString("base64"))])
      assert.deepEqual(await audioOf(await bench.read(existing(part))), AUDIO);
  }
  assert.deepEqual(
    await audioOf(await bench.read(formRequest(form([unchosen])))),
    Buffer.alloc(0),
    "alone it is the audio",
  );
  for (const sent of [file("", "a.wav"), file("RIFF", "")]) {
    const error = await bench.refuses(
      formRequest(form([sent, field("audio.url", "https://a.example/a.wav")])),
      "INVALID_REQUEST",
    );
    assert.equal(error.param, "audio");
  }
});

for (const type of ["audio", "", "audio/", "audio/wav; charset=a; charset=b", "audio/wav/x", "audio/wav x"]) {
  test(`request-body.media-type-hint: a file's media type is a hint, and ${JSON.stringify(type)} is none`, async (t) => {
    const bench = await openBench(t);
    const read = await bench.read(formRequest(form([file(AUDIO, "a.wav", type)])));
    assert.ok(read.audio.kind === "spooled");
    assert.equal(read.audio.mediaTypeHint, null);
    assert.deepEqual(await audioOf(read), AUDIO);
  });
}

test("request-body.form-tolerance: a semicolon behind the last parameter, of the body, a part and its type", async (t) => {
  const bench = await openBench(t);
  const headers = 'Content-Disposition: form-data; name="file"; filename="a.wav"; \r\nContent-Type: audio/wav;';
  const read = await bench.read(
    formRequest(form([{ headers, value: AUDIO }]), `multipart/form-data; boundary=${BOUNDARY}; `),
  );
  assert.ok(read.audio.kind === "spooled");
  assert.deepEqual([read.audio.fileNameHint, read.audio.mediaTypeHint], ["a.wav", "audio/wav"]);
  assert.deepEqual(await audioOf(read), AUDIO);
});

test("request-body.form-tolerance: unquoted names, filename*, a padded boundary line, a quoted boundary", async (t) => {
  const bench = await openBench(t);
  const body = Buffer.from(
    `--a b\t \r\ncontent-disposition: FORM-DATA; name=file; filename*=utf-8''Gr%C3%BC%C3%9Fe.wav\r\n\r\nRIFF\r\n--a b-- \r\n`,
  );
  const read = await bench.read(formRequest(body, 'Multipart/Form-Data; boundary="a b"'));
  assert.ok(read.audio.kind === "spooled");
  assert.equal(read.audio.fileNameHint, "Grüße.wav");
  assert.equal((await audioOf(read)).toString(), "RIFF");
});
