// Every row of test/cases/bad-input.json that POST /v1/transcription can be sent, as whole HTTP requests in bytes.
import { generateKey } from "../../../src/auth/key-format.ts";
import { chunk, fmt, muLaw, riff, wav } from "../../audio/build-audio.ts";
import { hostileAudio } from "../../audio/hostile-audio.ts";
import { KEY } from "../../harness/gateway.ts";
import { BOUNDARY, field, file, form, type Part } from "../body/bodies.ts";

export const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;
export const MAX_AUDIO_BYTES = 26_214_400;
/** A quarter of a second: small enough to be sent hundreds of times. */
const AUDIO = wav(0.25);
const BASE64 = Buffer.from(AUDIO).toString("base64");

export interface RequestOptions {
  readonly headers?: string;
  readonly target?: string;
  readonly version?: string;
  readonly authorization?: string;
  readonly connection?: string;
}

export function rawPost(body: Uint8Array | string, options: RequestOptions = {}): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([rawHead(`${options.headers ?? ""}Content-Length: ${bytes.length}\r\n`, options), bytes]);
}

/** A head alone: `headers` must contain the length of what follows. */
export function rawHead(headers: string, options: RequestOptions = {}): Buffer {
  const { target = "/v1/transcription", version = "1.1", authorization = AUTHORIZATION } = options;
  const connection = options.connection ?? "Connection: close\r\n";
  return Buffer.from(
    `POST ${target} HTTP/${version}\r\nHost: x\r\n${connection}${authorization}${headers}\r\n`,
    "latin1",
  );
}

export const jsonHeader = "Content-Type: application/json\r\n";
export const formHeader = `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\n`;

export const postJsonBytes = (body: Uint8Array | string, headers = jsonHeader): Buffer => rawPost(body, { headers });
export const postFormBytes = (parts: readonly Part[]): Buffer => rawPost(form(parts), { headers: formHeader });
/** A good request with further headers. */
export const goodPost = (headers = "", options: RequestOptions = {}): Buffer =>
  rawPost(form([audio()]), { ...options, headers: formHeader + headers });
export const audio = (): Part => file(AUDIO);
const typed = (type: string): Buffer => rawPost(form([audio()]), { headers: `Content-Type: ${type}\r\n` });
const plain = (headers: string): Part => ({ headers, value: "x" });
const long = (length: number): string => "x".repeat(length);
const withField = (text: string): Buffer => postJsonBytes(`{"audio":"${BASE64}",${text}}`);
const withFields = (...texts: readonly string[]): Buffer[] => texts.map(withField);
const many = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(",");
const base64Of = (text: string): Buffer => postJsonBytes(JSON.stringify({ audio: { base64: text } }));
const named = (fileName: string): Buffer => postFormBytes([file(AUDIO, fileName)]);
const withHeaders = (...headers: readonly string[]): Buffer[] => headers.map((header) => goodPost(header));

const media = Object.fromEntries(
  [...hostileAudio]
    .filter(([id]) => id.startsWith("BAD-"))
    .map(([id, row]) => [
      id,
      () => [
        row.fileName === ""
          ? postFormBytes([
              {
                headers: 'Content-Disposition: form-data; name="file"; filename=""',
                value: row.bytes(),
              },
            ])
          : postFormBytes([file(row.bytes(), row.fileName, declaredType(row.fileName))]),
      ],
    ]),
);

function declaredType(fileName: string): string {
  return fileName.endsWith(".mp3")
    ? "audio/mpeg"
    : fileName.endsWith(".wav")
      ? "audio/wav"
      : "application/octet-stream";
}

/** Audio whose JSON body is exactly `sizeBytes` long. */
export function jsonOfSize(sizeBytes: number): Buffer {
  const head = '{"audio":{"base64":"';
  const tail = '"}}';
  const characters = sizeBytes - head.length - tail.length;
  const padding = characters % 4;
  const sound = Buffer.from(wavOfSize(((characters - padding) / 4) * 3)).toString("base64");
  return Buffer.from(`${head}${sound}${tail}${" ".repeat(padding)}`);
}

/** Audio of exactly so many bytes. */
export function wavOfSize(sizeBytes: number): Uint8Array {
  const headerBytes = wav(1).length - 8_000;
  const bytes = wav((sizeBytes - headerBytes) / 8_000);
  // A chunk of odd length is padded, and the pad is no part of what was asked for.
  return bytes.subarray(0, sizeBytes);
}

/** Each request of a row is sent on a connection of its own and must be answered as the row says. */
export const REQUESTS: Readonly<Record<string, () => readonly Buffer[]>> = {
  ...media,
  "BAD-043": () => [
    ...(media["BAD-043"]?.() ?? []),
    ...[6, 7].map((tag) => postFormBytes([file(riff(fmt({ tag }), chunk("data", muLaw(2))))])),
  ],
  "BAD-096": () => [postFormBytes([file(wavOfSize(MAX_AUDIO_BYTES))])],
  "BAD-104": () => withHeaders("Expect: foo\r\n"),
  "BAD-105": () => withHeaders(...["gzip", "br", "x"].map((encoding) => `Content-Encoding: ${encoding}\r\n`)),
  "BAD-108": () => [typed("multipart/form-data")],
  "BAD-109": () => [typed('multipart/form-data; boundary=""'), typed("multipart/form-data; boundary=")],
  "BAD-112": () => [typed("multipart/form-data; boundary=other")],
  "BAD-114": () => [postFormBytes([])],
  "BAD-116": () => [
    rawPost(Buffer.concat([Buffer.from("This is a form.\r\n"), form([audio()]), Buffer.from("\r\nbye --x\r\n")]), {
      headers: formHeader,
    }),
  ],
  "BAD-119": () => [postFormBytes([audio(), audio()])],
  "BAD-122": () => [postFormBytes([field("file", "RIFF")])],
  "BAD-123": () => [postFormBytes([audio(), field("purpose", "a"), field("purpose", "b")])],
  "BAD-124": () => [postFormBytes([audio(), ...Array.from({ length: 1_000 }, () => field("language", "en"))])],
  "BAD-125": () => [postFormBytes([audio(), ...Array.from({ length: 10_000 }, (_, i) => field(`f${i}`, ""))])],
  "BAD-126": () => [
    postFormBytes([audio(), plain(`Content-Disposition: form-data; name="prompt"${"\r\nX: y".repeat(5_000)}`)]),
  ],
  "BAD-127": () => [postFormBytes([audio(), plain(long(1_000_000))])],
  "BAD-129": () => [postFormBytes([audio(), plain('Content-Disposition: form-data;\r\n name="prompt"')])],
  "BAD-130": () => [postFormBytes([audio(), plain("Content-Type: text/plain")])],
  "BAD-133": () => [postFormBytes([audio(), field(long(1_000_000), "x")])],
  "BAD-134": () => [postFormBytes([audio(), field("prompt", long(2_000_000))])],
  "BAD-135": () =>
    ["__proto__", "constructor", "prototype", "audio.__proto__"].map((name) =>
      postFormBytes([audio(), field(name, '{"polluted":1}')]),
    ),
  "BAD-136": () => [
    postFormBytes([audio(), field(`a${"[b]".repeat(1_000)}`, "x")]),
    postFormBytes([audio(), field("a[b][c]", "x")]),
  ],
  "BAD-137": () => [
    postFormBytes([audio(), field("provider", "openai")]),
    postFormBytes([audio(), field("model", "whisper-1")]),
  ],
  "BAD-138": () => ["audio.provider", "audio.model"].map((name) => postFormBytes([audio(), field(name, "openai")])),
  "BAD-140": () => [named("../../etc/passwd")],
  "BAD-141": () => [named("C:\\\\windows\\\\a.wav")],
  "BAD-142": () => [named(long(10_000))],
  "BAD-144": () => [named('a;b%22c\\"d;👋\u202egpj.wav')],
  "BAD-146": () => ["con", "nul", ".", ".."].map(named),
  "BAD-148": () =>
    ["message/rfc822", "multipart/mixed; boundary=x"].map((type) => postFormBytes([file(AUDIO, "a.wav", type)])),
  "BAD-150": () =>
    ["multipart/mixed", "multipart/related", "multipart/form-datax"].map((type) =>
      typed(`${type}; boundary=${BOUNDARY}`),
    ),
  "BAD-153": () => [postJsonBytes("")],
  "BAD-157": () =>
    withFields(
      '"language":"en",',
      '/* c */"language":"en"',
      "'language':'en'",
      '"speaker_count_hint":NaN',
      '"speaker_count_hint":Infinity',
      '"speaker_count_hint":0x2',
    ),
  "BAD-159": () => ["", "\ufeff"].map((mark) => postJsonBytes(Buffer.from(`${mark}{"audio":"${BASE64}"}`, "utf16le"))),
  "BAD-160": () => [postJsonBytes(`{"audio":"${BASE64}"}`, "Content-Type: application/json; charset=latin1\r\n")],
  "BAD-161": () => [
    postJsonBytes(
      Buffer.concat([Buffer.from(`{"audio":"${BASE64}","prompt":"`), Buffer.from([0xff]), Buffer.from('"}')]),
    ),
  ],
  "BAD-165": () => [postJsonBytes(`{${many(1_000_000, (index) => `"k${index}":1`)}}`)],
  // `max_tokens` is a chat field and unknown here; `speaker_count_hint` is the whole number of this endpoint.
  "BAD-171": () => withFields('"max_tokens":1e400', '"speaker_count_hint":1e400'),
  "BAD-172": () => withFields('"max_tokens":9007199254740993', '"speaker_count_hint":9007199254740993'),
  "BAD-173": () =>
    ["-1", "0", "1.5", '"10"', "true", "[10]"].map((value) => withField(`"speaker_count_hint":${value}`)),
  "BAD-176": () => withFields('"stream":"true"', '"stream":1'),
  "BAD-181": () => [
    ...withFields('"model":"whisper-1"', '"provider":"openai"'),
    postJsonBytes(`{"audio":{"base64":"${BASE64}","model":"whisper-1"}}`),
    postJsonBytes(`{"audio":{"base64":"${BASE64}","provider":"openai"}}`),
  ],
  "BAD-183": () => withFields('"response_profile":"turbo"'),
  "BAD-185": () => withFields(`"custom_vocabulary":[${many(100_000, (index) => `"t${index}"`)}]`),
  "BAD-186": () => withFields('"custom_vocabulary":["alpha","beta"],"keyterms":["beta","gamma"]'),
  "BAD-188": () => [postJsonBytes(JSON.stringify({ audio: { base64: BASE64, url: "https://a.example/a.wav" } }))],
  "BAD-191": () => [postJsonBytes(JSON.stringify({ audio: { base64: BASE64, filename: "../../a.wav" } }))],
  "BAD-194": () => [postJsonBytes(`{"audio":"${BASE64}"}`, "")],
  "BAD-195": () => [
    postJsonBytes(`{"audio":"${BASE64}"}`, "Content-Type: application/json; charset=utf-8; charset=utf-16\r\n"),
  ],
  "BAD-196": () => [postJsonBytes("language=en", "Content-Type: application/x-www-form-urlencoded\r\n")],
  "BAD-197": () => [base64Of("")],
  "BAD-199": () => [base64Of(Buffer.from(AUDIO).toString("base64url"))],
  "BAD-202": () => [base64Of("AAAAA")],
  "BAD-203": () => [base64Of("AAAA====")],
  "BAD-205": () => [base64Of(BASE64.replace(/.{76}/g, "$&\r\n")), base64Of(BASE64.replace(/.{76}/g, "$& \t\n"))],
  "BAD-209": () => [base64Of(Buffer.from(AUDIO).toString("hex"))],
  "BAD-211": () => [base64Of("=".repeat(20_000_000))],
  "BAD-212": () => [postJsonBytes(jsonOfSize(MAX_AUDIO_BYTES))],
  "BAD-213": () => [goodPost("", { authorization: "" })],
  "BAD-214": () =>
    [
      "Basic Z29vZA==",
      "Bearer",
      "Bearer  ",
      "bearer x",
      `Bearer ${long(8_000)}`,
      `Bearer ${KEY} ${KEY}`,
      `Bearer${KEY}`,
    ].map((value) => goodPost("", { authorization: `Authorization: ${value}\r\n` })),
  "BAD-216": () => [goodPost("", { authorization: "", target: `/v1/transcription?api_key=${KEY}&key=${KEY}` })],
  "BAD-217": () => [goodPost("", { authorization: `Authorization: Bearer ${generateKey("live")}\r\n` })],
  "BAD-218": () => withHeaders("Host: y\r\n"),
  "BAD-220": () => [
    Buffer.concat([
      rawHead(`${formHeader}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`),
      Buffer.from("0\r\n\r\n"),
    ]),
    Buffer.concat([
      rawHead(`${formHeader}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`),
      Buffer.from("0\r\n\r\n"),
    ]),
    Buffer.concat([rawHead(`${formHeader}Content-Length: 4\r\nContent-Length: 5\r\n`), Buffer.from("abcd")]),
    Buffer.concat([rawHead(`${formHeader}Transfer-Encoding: gzip, chunked\r\n`), Buffer.from("0\r\n\r\n")]),
  ],
  "BAD-221": () =>
    ["http://other.example/v1/transcription", "https://x/v1/transcription"].map((target) => goodPost("", { target })),
  "BAD-222": () => withHeaders(`X-Filler: ${long(17 * 1024)}\r\n`, "X-F: y\r\n".repeat(101)),
  "BAD-226": () =>
    ["TRACE", "FOO", "GET", "PUT"].map((method) =>
      Buffer.from(`${method} /v1/transcription HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${AUTHORIZATION}\r\n`),
    ),
  "BAD-227": () =>
    [
      "//v1/transcription",
      "/v1/%74ranscription",
      "/v1/transcription/",
      "/V1/TRANSCRIPTION",
      "/v1/../v1/transcription",
    ].map((target) => goodPost("", { target })),
  "BAD-229": () => [
    ...withHeaders(
      ...["", long(256), "a\tb", "a b", "caf\u00e9", "a\x01b"].map((value) => `Idempotency-Key: ${value}\r\n`),
    ),
    goodPost("Idempotency-Key: a\r\nIdempotency-Key: a\r\n"),
  ],
  "BAD-230": () =>
    withHeaders(
      "X-SVC-Purpose: a\r\nx-svc-purpose: a\r\n",
      `X-SVC-Purpose: ${long(5_000)}\r\n`,
      "X-SVC-Purpose: caf\u00e9\r\n",
    ),
  "BAD-231": () => withHeaders('Range: bytes=0-1\r\nIf-None-Match: "x"\r\n'),
  "BAD-232": () => [goodPost("", { version: "1.0" })],
};
