// Bodies: forms, JSON, base64, chats and recordings that mean one thing to one reader and another to the next.
import {
  box,
  chunk,
  CLUSTER,
  cluster,
  clusterTime,
  ascii,
  be32,
  ebmlHeader,
  element,
  fmt,
  fullBox,
  id3,
  info,
  join,
  le32,
  mp3,
  mp4,
  muLaw,
  patch,
  repeat,
  riff,
  SEGMENT,
  simpleBlock,
  wav,
  webm,
  webmTracks,
  zeros,
} from "../audio/build-audio.ts";
import { BOUNDARY, field, file, form, type Part } from "../http/body/bodies.ts";
import { AUTHORIZATION, formHeader, jsonHeader, rawHead, rawPost } from "../http/transcription/bad-input-bodies.ts";
import type { HostileRequest } from "./hostile.ts";

const SOUND = wav(0.25);
const BASE64 = Buffer.from(SOUND).toString("base64");
const recording = file(SOUND);
const part = (headers: string, value: string | Uint8Array = "x"): Part => ({ headers, value });
const named = (rest: string, value: string | Uint8Array = "x"): Part =>
  part(`Content-Disposition: form-data; ${rest}`, value);

const postForm = (...parts: readonly Part[]): Buffer => rawPost(form(parts), { headers: formHeader });
const withPart = (each: Part): Buffer => postForm(recording, each);
const withType = (type: string): Buffer => rawPost(form([recording]), { headers: `Content-Type: ${type}\r\n` });
const postText = (body: string | Uint8Array, target = "/v1/transcription"): Buffer =>
  rawPost(body, { headers: jsonHeader, target });
const post = (body: object, target?: string): Buffer => postText(JSON.stringify(body), target);
const base64 = (text: string): Buffer => post({ audio: { base64: text } });
const fetched = (url: string): Buffer => post({ audio: { url } });
const upload = (bytes: Uint8Array, name = "a.wav"): Buffer => postForm(file(bytes, name));

const HELLO = { role: "user", content: "Hello" };
const chatText = (text: string | Uint8Array): Buffer => postText(text, "/v1/chat");
const chat = (fields: object): Buffer => post({ messages: [HELLO], ...fields }, "/v1/chat");
const chatMember = (member: string): Buffer => chatText(`{"messages":[{"role":"user","content":"x"}],${member}}`);
const image = (url: string): Buffer =>
  chat({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] });
const tool = (parameters: unknown): Buffer =>
  chat({ tools: [{ type: "function", function: { name: "f", parameters } }] });
const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });
const bytesIn = (...bytes: readonly number[]): Buffer =>
  chatText(
    Buffer.concat([
      Buffer.from('{"messages":[{"role":"user","content":"'),
      Buffer.from(bytes),
      Buffer.from('"}]}'),
    ]),
  );

const row =
  (status: number, code: string | null) =>
  (id: string, input: string, ...requests: readonly Buffer[]): HostileRequest => ({
    id,
    input,
    requests,
    status,
    code,
    ...(code === null ? { calls: requests.length } : {}),
  });
const invalid = row(400, "INVALID_REQUEST");
const rejected = row(400, "AUDIO_URL_REJECTED");
const routeControl = row(400, "ROUTE_CONTROL_FIELD_REJECTED");
const unsupported = row(415, "UNSUPPORTED_MEDIA_TYPE");
const noAudio = row(422, "INVALID_AUDIO");
const served = row(200, null);

const forms: readonly HostileRequest[] = [
  invalid(
    "HOS-101",
    "a part with two names, an encoded name, another disposition",
    withPart(named('name="prompt"; name="file"')),
    withPart(named("name*=utf-8''prompt")),
    withPart(part('Content-Disposition: attachment; name="prompt"')),
    withPart(part('Content-Disposition: form-data; name="prompt"\r\nContent-Disposition: form-data; name="file"')),
  ),
  served(
    "HOS-102",
    "filename* in latin-1, with a broken escape, 300 escaped characters long: a hint that refuses nothing (FLD-06)",
    ...["iso-8859-1''a%e9.wav", "utf-8''a%zz.wav", "utf-8''%ff%fe", `utf-8''${"%41".repeat(300)}`].map((name) =>
      postForm(named(`name="file"; filename*=${name}`, SOUND)),
    ),
  ),
  served(
    "HOS-103",
    "filename* with a path, a NUL, a line end: a name leads nowhere",
    ...["..%2f..%2fetc%2fpasswd", "a%00b.wav", "a%0d%0aX-Evil:%201.wav", "%e2%80%aegpj.wav"].map((name) =>
      postForm(named(`name="file"; filename="a.wav"; filename*=utf-8''${name}`, SOUND)),
    ),
  ),
  invalid("HOS-104", "a NUL in a part's name", withPart(named('name="pro\0mpt"'))),
  invalid(
    "HOS-105",
    "bytes that are no UTF-8, in a name and in a value",
    rawPost(
      Buffer.from(form([recording, named('name="\xff"')]).toString("latin1").replace("\xc3\xbf", "\xff"), "latin1"),
      { headers: formHeader },
    ),
    postForm(recording, { name: "prompt", value: Uint8Array.of(0xc3, 0x28) }),
  ),
  invalid(
    "HOS-106",
    "two media types of a part, a charset of another, base64 and quoted-printable as the part's encoding",
    withPart(named('name="prompt"\r\nContent-Type: text/plain\r\nContent-Type: text/html')),
    withPart(named('name="prompt"\r\nContent-Type: text/plain; charset=utf-7')),
    withPart(field("_charset_", "utf-16")),
    postForm(named('name="file"; filename="a.wav"\r\nContent-Transfer-Encoding: base64', BASE64)),
    withPart(named('name="prompt"\r\nContent-Transfer-Encoding: quoted-printable')),
  ),
  invalid(
    "HOS-107",
    "a form with bare line feeds, with text behind a boundary, with 300 blanks behind one, without an end",
    rawPost(form([recording]).toString("latin1").replaceAll("\r\n", "\n"), { headers: formHeader }),
    withPart(named('name="prompt"', `x\r\n--${BOUNDARY}x\r\n`)),
    rawPost(
      Buffer.from(form([recording]).toString("latin1").replace(`--${BOUNDARY}`, `--${BOUNDARY}${" ".repeat(300)}`), "latin1"),
      { headers: formHeader },
    ),
    rawPost(form([recording, field("prompt", "x")], ""), { headers: formHeader }),
  ),
  unsupported("HOS-108", "two boundaries", withType(`multipart/form-data; boundary=${BOUNDARY}; boundary=x`)),
  invalid(
    "HOS-109",
    "a boundary of 71 characters, one that ends in a blank, its name alone, the encoded and the continued form",
    withType(`multipart/form-data; boundary=${"b".repeat(71)}`),
    withType(`multipart/form-data; boundary="${BOUNDARY} "`),
    withType("multipart/form-data; boundary"),
    withType(`multipart/form-data; boundary*=utf-8''${BOUNDARY}`),
    withType(`multipart/form-data; boundary*0=${BOUNDARY}`),
  ),
  served(
    "HOS-110",
    "a second form behind the end of the first is not read",
    rawPost(Buffer.concat([form([recording]), form([field("model", "gpt-9"), field("diarization", "maybe")])]), {
      headers: formHeader,
    }),
  ),
  unsupported(
    "HOS-111",
    "24 MB of boundaries that lack their last character",
    rawPost(
      Buffer.concat([
        Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`),
        Buffer.alloc(24_000_000, `\r\n--${BOUNDARY.slice(0, -1)}`),
        Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
      ]),
      { headers: formHeader },
    ),
  ),
  invalid(
    "HOS-112",
    "values that other languages take: TRUE, a blank before, 1e1, other scripts' figures, a list of lists",
    ...[
      ["diarization", "TRUE"],
      ["diarization", " true"],
      ["diarization", "on"],
      ["speaker_count_hint", "1e1"],
      ["speaker_count_hint", "0x2"],
      ["speaker_count_hint", "\u0662"],
      ["speaker_count_hint", "02"],
      ["keyterms[][]", "a"],
      ["language", "en\u202e"],
      ["language", `en-${"abcdefgh-".repeat(500)}abcdefgh`],
    ].map(([name = "", value = ""]) => withPart(field(name, value))),
  ),
  invalid(
    "HOS-113",
    "a source hidden next to the file: by address, as an object, as metadata",
    withPart(field("audio.url", "https://media.example/a.wav")),
    withPart(field("audio", '{"url":"https://media.example/a.wav"}')),
    withPart(field("metadata", '{"a":"b"}')),
  ),
];

const json: readonly HostileRequest[] = [
  invalid("HOS-121", "a byte order mark before JSON", chatText(`\ufeff${JSON.stringify({ messages: [HELLO] })}`)),
  invalid(
    "HOS-122",
    "half a surrogate pair: escaped, as a key, in raw bytes; an overlong slash",
    chatText('{"messages":[{"role":"user","content":"\\ud800"}]}'),
    chatMember('"\\udfff":1'),
    bytesIn(0xed, 0xa0, 0x80),
    bytesIn(0xc0, 0xaf),
  ),
  invalid("HOS-123", "one key twice, once in escapes", chatMember('"stream":false,"str\\u0065am":true')),
  routeControl(
    "HOS-124",
    "model and provider spelt with escapes",
    chatMember('"mod\\u0065l":"gpt-9"'),
    chatMember('"\\u0070rovider":"x"'),
    postText(`{"audio":{"base64":"${BASE64}","\\u006dodel":"x"}}`),
  ),
  invalid(
    "HOS-125",
    "numbers: beyond 2^53, a million digits, a leading zero, a plus, a bare point",
    ...["9007199254740993", "1".repeat(1_000_000), "01", "+1", "1.", ".5", "1e5000", "-"].map((number) =>
      chatMember(`"seed":${number}`),
    ),
  ),
  invalid(
    "HOS-126",
    "more than one document, a NUL behind it, white space of other standards",
    chatText('{"messages":[{"role":"user","content":"x"}]}{"a":1}'),
    chatText('{"messages":[{"role":"user","content":"x"}]}\0'),
    ...["\x0b", "\u00a0", "\u2028", "\x0c"].map((blank) => chatText(`${blank}{"messages":[{"role":"user","content":"x"}]}`)),
  ),
  invalid("HOS-127", "2 MB of backslashes and no end", chatText(`{"a":"${"\\".repeat(2_000_000)}`)),
  invalid("HOS-128", "objects 70 deep", tool(nested(70))),
  invalid("HOS-129", "20,000 keys in a schema", tool(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1])))),
  invalid("HOS-130", "a list where the object belongs", chatText('[{"provider":"x"}]'), postText("[]"), postText('"x"')),
  invalid(
    "HOS-131",
    "audio twice, once in escapes; inside itself; in a list",
    postText(`{"audio":{"base64":"${BASE64}"},"audio":{"url":"https://media.example/"}}`),
    postText(`{"audio":"${BASE64}","\\u0061udio":"${BASE64}"}`),
    postText(`{"audio":{"audio":{"base64":"${BASE64}"}}}`),
    postText(`{"audio":[{"base64":"${BASE64}"}]}`),
  ),
  invalid("HOS-132", "10,001 empty keyterms", post({ audio: BASE64, keyterms: Array.from({ length: 10_001 }, () => "") })),
  invalid(
    "HOS-133",
    "base64: a data: URL inside one, one without base64, 4 kB of parameters, both alphabets, padding inside, a NUL, full-width letters",
    ...[
      `data:audio/wav;base64,data:audio/wav;base64,${BASE64}`,
      `data:audio/wav,${BASE64}`,
      `data:audio/wav;${"a=b;".repeat(1_000)}base64,${BASE64}`,
      `${BASE64.slice(0, 100)}-_+/${BASE64.slice(104)}`,
      `${BASE64.slice(0, 100)}==${BASE64.slice(100)}`,
      `${BASE64.slice(0, 100)}\0${BASE64.slice(100)}`,
      `\uff21${BASE64.slice(1)}`,
      `${BASE64.slice(0, 100)}%2B${BASE64.slice(103)}`,
    ].map(base64),
    post({ audio: { base64: [BASE64] } }),
    post({ audio: { base64: BASE64, data: BASE64 } }),
  ),
  noAudio("HOS-134", "a million line breaks and no base64", base64("\n".repeat(1_000_000))),
];

const chats: readonly HostileRequest[] = [
  invalid(
    "HOS-141",
    "images by address, as SVG, with parameters, with blanks: nothing is fetched",
    ...[
      "http://169.254.169.254/latest/meta-data/",
      "https://media.example/a.png",
      "file:///etc/passwd",
      "data:image/svg+xml;base64,PHN2Zy8+",
      "data:image/png;charset=x;base64,AAAA",
      "data:image/png;base64, AAAA",
      "data:image/png;base64,",
      "data:text/html;base64,AAAA",
    ].map(image),
  ),
  invalid(
    "HOS-142",
    "`__proto__` in a schema and in arguments",
    chatMember('"tools":[{"type":"function","function":{"name":"f","parameters":{"__proto__":{"polluted":1}}}}]'),
    chatMember('"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"__proto__":{"polluted":1}}}}'),
    chatMember('"__proto__":{"polluted":1}'),
  ),
  invalid("HOS-143", "129 tools; two of one name", chat({ tools: toolsNamed(129) }), chat({ tools: [...toolsNamed(1), ...toolsNamed(1)] })),
  invalid(
    "HOS-144",
    "names of tools: empty, with a line end, 65 characters, another script's letters",
    ...["", "a\nb", "a".repeat(65), "\u0430"].map((name) => chat({ tools: [{ type: "function", function: { name } }] })),
  ),
  invalid(
    "HOS-145",
    "an answer to a call that was not made; a role of the provider's own; a message that says who it is for",
    chat({ messages: [HELLO, { role: "tool", tool_call_id: "x", content: "42" }] }),
    chat({ messages: [{ role: "developer", content: "x" }] }),
    chat({ messages: [{ ...HELLO, name: "root" }] }),
    chat({ messages: [{ ...HELLO, model: "gpt-9" }] }),
  ),
  invalid("HOS-146", "a call's id of 70,000 characters", chat({
    messages: [HELLO, { role: "assistant", tool_calls: [{ id: "x".repeat(70_000), name: "f", arguments: "{}" }] }],
  })),
  invalid("HOS-147", "a purpose that turns the direction of writing, hides, breaks the line", ...["a\u202eb", "\u200b", "a\u2028b", "\u2066a", "a\0"].map((purpose) => chat({ purpose }))),
  served("HOS-148", "a purpose outside the first plane is unknown, not malformed", chat({ purpose: "\u{1f44b}" })),
  served(
    "HOS-149",
    "schemas that recurse, point elsewhere, backtrack: they are passed on and never run",
    tool({ $ref: "#", $defs: { a: { $ref: "#/$defs/a" } } }),
    tool({ $ref: "http://169.254.169.254/schema.json" }),
    tool({ type: "object", properties: { a: { type: "string", pattern: "^(a+)+$", default: `${"a".repeat(200)}!` } } }),
    tool({ constructor: { prototype: { polluted: 1 } } }),
  ),
  row(400, "MODEL_NOT_SELECTABLE")(
    "HOS-150",
    "models by name at the compatible endpoint",
    ...["gpt-9", "AUTO", "auto ", "purpose", "openai/auto"].map((model) => post({ model, messages: [HELLO] }, "/v1/chat/completions")),
  ),
  invalid(
    "HOS-151",
    "fields that cost more than one answer at the compatible endpoint",
    ...[{ n: 100 }, { best_of: 9 }, { logit_bias: { 50256: 1 } }, { store: true }].map((field_) =>
      post({ model: "auto", messages: [HELLO], ...field_ }, "/v1/chat/completions"),
    ),
  ),
];

function toolsNamed(count: number): object[] {
  return Array.from({ length: count }, (_, at) => ({ type: "function", function: { name: `f${at}` } }));
}

const recordings: readonly HostileRequest[] = [
  noAudio(
    "HOS-161",
    "WAV: one sample a second, a format of 2 GiB, no chunk at all, one sample",
    upload(riff(fmt({ rate: 1 }), chunk("data", muLaw(10)))),
    upload(join(ascii("RIFF"), le32(100), ascii("WAVEfmt "), le32(0x80000000), zeros(16))),
    upload(join(ascii("RIFF"), le32(4), ascii("WAVE"))),
    upload(riff(fmt(), chunk("data", zeros(1)))),
  ),
  served(
    "HOS-162",
    "WAV: a ZIP or a script behind it, a RIFF of size 0, samples of no bits in frames of 64 KiB",
    upload(join(SOUND, ascii("PK\x03\x04"), zeros(200))),
    upload(join(SOUND, ascii("<script>alert(1)</script>"))),
    upload(patch(SOUND, 4, [0, 0, 0, 0])),
    upload(riff(fmt({ bits: 0, align: 65_535 }), chunk("data", muLaw(2)))),
  ),
  unsupported(
    "HOS-163",
    "mp3 with a stray byte between any two frames; a QuickTime film; a page behind a tag of ours",
    upload(repeat(join(mp3(1), [0xff]), 60), "a.mp3"),
    upload(mp4({ brand: "qt  " }), "a.mp4"),
    upload(join(id3(zeros(10)), ascii("<html>".repeat(200))), "a.mp3"),
  ),
  noAudio(
    "HOS-164",
    "mp4: no clock, no chunks, chunks beyond the end, samples of 2 GiB, an index inside the index, a picture for a sound",
    upload(mp4({ timescale: 0 }), "a.mp4"),
    upload(mp4({ stsc: fullBox("stsc", be32(1), be32(0), be32(0), be32(0)) }), "a.mp4"),
    upload(mp4({ stco: () => fullBox("stco", be32(1), be32(0x7fffffff)) }), "a.mp4"),
    upload(mp4({ stsz: fullBox("stsz", be32(0x80000000), be32(30)) }), "a.mp4"),
    upload(mp4({ inMoov: box("moov", box("moov", zeros(8))) }), "a.mp4"),
    upload(mp4({ handler: "vide" }), "a.mp4"),
  ),
  served(
    "HOS-165",
    "mp4: 200 tracks, a second film behind it, an edit that lasts for ever: as long as its packets are",
    upload(mp4({ tracks: 200 }), "a.mp4"),
    upload(join(mp4(), mp4()), "a.mp4"),
    upload(
      mp4({ edts: box("edts", fullBox("elst", be32(1), be32(0xffffffff), be32(0xffffffff), be32(0x80000000))) }),
      "a.mp4",
    ),
  ),
  served(
    "HOS-166",
    "WebM: clocks of a nanosecond and of four seconds, time that runs backwards, a film in a block: as long as its packets are",
    upload(join(ebmlHeader(), element(SEGMENT, info(1), webmTracks(), cluster(0), cluster(1000))), "a.webm"),
    upload(join(ebmlHeader(), element(SEGMENT, info(0xffffffff), webmTracks(), cluster(0), cluster(1000))), "a.webm"),
    upload(webm(cluster(5000), cluster(0)), "a.webm"),
    upload(webm(cluster(0), element(CLUSTER, clusterTime(1000), simpleBlock(0, webm()))), "a.webm"),
  ),
  noAudio("HOS-167", "WebM: two packets before the beginning of time", upload(webm(element(CLUSTER, clusterTime(0), simpleBlock(0x8000), simpleBlock(0))), "a.webm")),
];

const addresses: readonly HostileRequest[] = [
  rejected(
    "HOS-171",
    "the listed host as user name, as password, behind nothing but an @",
    ...["https://media.example:443@evil.example/", "https://user@media.example/", "https://@media.example/", "https://:@media.example/"].map(fetched),
  ),
  rejected(
    "HOS-172",
    "the listed host in another script's letters, with a full stop of another script, in punycode, with a label more",
    ...[
      "https://medi\u0430.example/a.wav",
      "https://media\u3002example/",
      "https://media.example%E3%80%82evil/",
      "https://xn--medi-63d.example/",
      "https://media.example./a.wav",
      "https://media.example.evil.example/",
      "https://media.example;evil.example/",
      "https://media.example&evil.example/",
      "https://media.example,evil.example/",
      "https://media.example\u2215evil.example/",
    ].map(fetched),
  ),
  rejected(
    "HOS-173",
    "addresses of this machine in ten spellings",
    ...[
      "https://[::]/",
      "https://[fe80::1%25eth0]/",
      "https://[::ffff:93.184.216.34]/",
      "https://[64:ff9b::7f00:1]/",
      "https://0/",
      "https://0x7f000001/",
      "https://0177.0.0.1/",
      "https://\u2460\u2461\u2466.0.0.1/",
      "https://127.0.0.1.nip.io/",
      "https://[0:0:0:0:0:ffff:7f00:1]/",
    ].map(fetched),
  ),
  rejected(
    "HOS-174",
    "ports: none behind the colon, 65536, a second one; schemes around https",
    ...[
      "https://media.example:/a.wav",
      "https://media.example:65536/",
      "https://media.example:443:443/",
      "wss://media.example/",
      "blob:https://media.example/x",
      "view-source:https://media.example/",
      "jar:https://media.example/x!/y",
      "javascript:fetch('https://media.example')",
      "https:\\\\media.example/",
      "//media.example/a.wav",
    ].map(fetched),
  ),
  rejected(
    "HOS-175",
    "hosts too long: a label of 64, 300 characters in all; a tab and a direction mark in the text",
    ...[
      `https://${"a".repeat(64)}.example/`,
      `https://${`${"a".repeat(60)}.`.repeat(5)}example/`,
      "https://media.example\t/",
      "https://media.example/\u202egpj.wav",
    ].map(fetched),
  ),
  invalid("HOS-176", "an address of 9,000 characters", fetched(`https://media.example/?${"q".repeat(9_000)}`)),
  invalid(
    "HOS-177",
    "a job whose metadata hold a NUL, in a value and in a key",
    post({ audio: { url: "https://media.example/a.wav" }, metadata: { a: "x\0" } }, "/v1/transcription/jobs"),
    post({ audio: { url: "https://media.example/a.wav" }, metadata: { "a\0": "x" } }, "/v1/transcription/jobs"),
    rawPost(form([recording, field("metadata", '{"a":"b\\u0000"}')]), {
      headers: formHeader,
      target: "/v1/transcription/jobs",
    }),
  ),
  invalid(
    "HOS-178",
    "a job with 17 pairs of metadata, a key of 65 characters, `__proto__`",
    ...[
      Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"])),
      { ["k".repeat(65)]: "v" },
      { "": "v" },
      { a: 1 },
    ].map((metadata) => post({ audio: BASE64, metadata }, "/v1/transcription/jobs")),
    postText(`{"audio":"${BASE64}","metadata":{"__proto__":"x"}}`, "/v1/transcription/jobs"),
  ),
];

const lengths: readonly HostileRequest[] = [
  invalid(
    "HOS-181",
    "a keyed request whose body ends early leaves the key free",
    Buffer.concat([
      rawHead(`${formHeader}Idempotency-Key: early\r\nTransfer-Encoding: chunked\r\n`, { authorization: AUTHORIZATION }),
      Buffer.from("5\r\n--cut\r\n0\r\n\r\n"),
    ]),
  ),
];

export const hostileBodies: readonly HostileRequest[] = [
  ...forms,
  ...json,
  ...chats,
  ...recordings,
  ...addresses,
  ...lengths,
];
