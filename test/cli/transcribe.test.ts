// `patchbay transcribe` against a loopback server: what is sent, what is printed where, and how it ends.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import type { z } from "zod";
import { AUDIO_REQUESTS, optionsOf } from "../../src/cli/use/transcription-options.ts";
import { EXIT_CODE_HELP, exitCodeOf } from "../../src/cli/exit-codes.ts";
import { ERRORS, type ErrorCode } from "../../src/contract/errors.ts";
import { audioFields, transcriptionFields } from "../../src/contract/transcription/transcription-fields.ts";
import { exampleError } from "../../src/http/pages/error-examples.ts";
import { audioOf, openBench, request as asRequest } from "../http/body/bodies.ts";
import { answerError, answerJson, ENVELOPE, fakeGateway, type Received, run } from "./fake-gateway.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const directory = mkdtempSync(join(tmpdir(), "patchbay-cli-"));
after(() => rmSync(directory, { recursive: true }));
const AUDIO = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
const FILE = join(directory, "call.mp3");
writeFileSync(FILE, AUDIO);
const KEY = ["--api-key", "test-key-of-the-cli-0123456789"];

/** The parts of a multipart body, by a reader other than the writer under test. */
async function partsOf(request: Received | undefined): Promise<FormData> {
  assert.ok(request !== undefined);
  return new Response(new Uint8Array(request.body), {
    headers: { "content-type": request.headers["content-type"] ?? "" },
  }).formData();
}

for (const [request, command] of [
  ["transcription", "transcribe"],
  ["translation", "translate"],
  ["job", "jobs submit"],
] as const) {
  test(`cli.every-field: every field of a ${request} has exactly one option, whose help describes it and whose choices are the schema's`, async () => {
    const { shape } = AUDIO_REQUESTS[request];
    assert.deepEqual(
      optionsOf(request)
        .map(([field]) => field)
        .toSorted(),
      Object.keys(shape).toSorted(),
    );
    const { stdout, exitCode } = await run([...command.split(" "), "--help"]);
    assert.equal(exitCode, 0);
    // The recording itself is the argument: a path, `-` or an https:// URL.
    const { base64: _base64, data: _data, url: _url, ...aboutAudio } = audioFields.shape;
    const audioOptions = Object.keys(aboutAudio).map((field) => ({ name: field.replaceAll("_", "-") }));
    for (const { name } of [...optionsOf(request).map(([, option]) => option), ...audioOptions])
      assert.match(stdout, new RegExp(`^ +--${name} .*\\S`, "m"));
    assert.match(stdout, /\nExamples:\n( {2}\$ .+\n)+$/u, "examples come last");
    assert.ok(stdout.includes(EXIT_CODE_HELP));
    for (const [field, option] of optionsOf(request)) {
      if (option.kind !== "choice") continue;
      const schema = (shape as Readonly<Record<string, z.ZodOptional>>)[field]?.unwrap();
      assert.ok(schema !== undefined && "options" in schema, field);
      assert.deepEqual([...(option.choices ?? [])], schema.options, field);
    }
  });
}

test("cli.every-field: every option is sent under its field's name, lists as JSON, the audio byte for byte", async () => {
  await using gateway = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const options = [
    "--mode",
    "batch",
    "--stream",
    "--dry-run",
    "--language",
    "pt-BR",
    "--diarization",
    "--speaker-count-hint",
    "3",
    "--timestamps",
    "both",
  ];
  const more = [
    "--custom-vocabulary",
    "Kysely",
    "--keyterm",
    "Patchbay",
    "--keyterm",
    "PGlite",
    "--smart-formatting",
    "--detect-language",
    "--no-profanity-filter",
  ];
  const rest = [
    "--redaction",
    "pii,numbers",
    "--multichannel",
    "--prompt",
    "A call.",
    "--response-format",
    "srt",
    "--purpose",
    "meetings",
    "--purpose-policy",
    "strict",
    "--response-profile",
    "deep",
    "--data-policy",
    "training=never",
    "--data-policy",
    "retention=deletable",
  ];
  const hints = ["--media-type", "audio/mpeg", "--filename", 'my "call".mp3', "--idempotency-key", "key-1"];
  const ran = await run(["transcribe", FILE, ...options, ...more, ...rest, ...hints, ...KEY, "--url", gateway.url]);
  assert.equal(ran.exitCode, 0, ran.stderr);
  const request = gateway.received[0];
  assert.equal(request?.path, "/v1/transcription");
  assert.equal(request?.headers.authorization, "Bearer test-key-of-the-cli-0123456789");
  assert.equal(request?.headers["idempotency-key"], "key-1");
  assert.equal(request?.headers["content-length"], String(request?.body.length), "the length is declared");
  const form = await partsOf(request);
  const sent = Object.fromEntries(
    [...new Set(form.keys())].filter((name) => name !== "file").map((name) => [name, form.getAll(name)]),
  );
  assert.deepEqual(sent, {
    mode: ["batch"],
    stream: ["true"],
    dry_run: ["true"],
    language: ["pt-BR"],
    diarization: ["true"],
    speaker_count_hint: ["3"],
    timestamps: ["both"],
    custom_vocabulary: ['["Kysely"]'],
    keyterms: ['["Patchbay","PGlite"]'],
    smart_formatting: ["true"],
    detect_language: ["true"],
    profanity_filter: ["false"],
    redaction: ['["pii","numbers"]'],
    multichannel: ["true"],
    prompt: ["A call."],
    response_format: ["srt"],
    purpose: ["meetings"],
    purpose_policy: ["strict"],
    response_profile: ["deep"],
    data_policy: ['{"training":"never","retention":"deletable"}'],
  });
  assert.deepEqual(
    Object.keys(sent).toSorted(),
    Object.keys(transcriptionFields.shape).toSorted(),
    "no field is missing",
  );
  const file = form.get("file");
  assert.ok(file instanceof File);
  assert.equal(file.type, "audio/mpeg");
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), AUDIO);
});

test("cli.every-field: a hundred terms, one of which begins with a bracket, reach the gateway unchanged", async (t) => {
  await using gateway = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const terms = ["[applause]", ...Array.from({ length: 99 }, (_, index) => `term ${index}`)];
  const options = terms.flatMap((term) => ["--keyterm", term]);
  const ran = await run(["transcribe", FILE, ...options, ...KEY, "--url", gateway.url]);
  assert.equal(ran.exitCode, 0, ran.stderr);
  const [sent] = gateway.received;
  assert.ok(sent !== undefined);
  const bench = await openBench(t);
  const type = { "content-type": sent.headers["content-type"] ?? "" };
  const submission = await bench.read(asRequest(sent.body, type));
  assert.deepEqual(submission.fields.keyterms, terms);
  assert.deepEqual(await audioOf(submission), AUDIO);
});

test("cli.streams: the transcript goes to stdout and everything else to stderr", async () => {
  await using gateway = await fakeGateway((response) =>
    answerJson(response, 200, ENVELOPE, { "x-svc-simulated": "true" }),
  );
  const ran = await run(["transcribe", FILE, ...KEY, "--url", gateway.url]);
  assert.deepEqual([ran.exitCode, ran.stdout], [0, "Hello there.\n"]);
  assert.match(ran.stderr, /^warning SIMULATED_PROVIDER.*\nrequest req_test\n/mu);
});

test("cli.json: --json prints exactly one document: the answer, or the error", async () => {
  await using gateway = await fakeGateway((response, _request, count) =>
    count === 1 ? answerJson(response, 200, ENVELOPE) : answerError(response, 422, "INVALID_AUDIO"),
  );
  const good = await run(["transcribe", FILE, "--json", ...KEY, "--url", gateway.url]);
  assert.deepEqual(JSON.parse(good.stdout), ENVELOPE);
  const bad = await run(["transcribe", FILE, "--json", ...KEY, "--url", gateway.url]);
  assert.equal((JSON.parse(bad.stdout) as { error: { code: string } }).error.code, "INVALID_AUDIO");
  const local = await run(["transcribe", join(directory, "missing.mp3"), "--json", ...KEY]);
  assert.equal((JSON.parse(local.stdout) as { error: { code: null } }).error.code, null);
  assert.deepEqual([good.exitCode, bad.exitCode, local.exitCode], [0, 2, 2]);
});

test("cli.json: --json is one document also if the command itself is wrong, and none if help is asked for", async () => {
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [["transcribe", "--sampl"], "Unknown option '--sampl'. Did you mean --sample?"],
    [["jobs", "get"], "Missing required argument 'id'."],
    [["jobs", "list", "--limit", "0"], "It must be a whole number above 0."],
    [["trancribe"], "Unknown command 'trancribe'. Did you mean transcribe?"],
  ];
  for (const [argv, message] of wrong) {
    const ran = await run([...argv, "--json"]);
    const { error } = JSON.parse(ran.stdout) as { error: { code: null; message: string } };
    assert.deepEqual([ran.exitCode, error.code], [2, null]);
    assert.ok(error.message.endsWith(message), error.message);
    assert.ok(ran.stderr.startsWith(`error ${error.message.split(" Did you mean")[0]}\n  `), ran.stderr);
    assert.equal((await run(argv)).stdout, "");
  }
  const help = await run(["jobs", "get", "--json", "--help"]);
  assert.deepEqual([help.exitCode, help.stdout.startsWith("{")], [0, false]);
});

test("cli.no-gateway: a port that HTTP clients refuse is reported as one, and not as a broken connection", async () => {
  const ran = await run(["transcribe", FILE, "--url", "http://127.0.0.1:6000", ...KEY]);
  assert.equal(ran.exitCode, 7);
  assert.match(ran.stderr, /127\.0\.0\.1:6000 uses a port that HTTP clients refuse to call.*\n {2}use another port/u);
});

const WRITABLE = "  create its directory, or write elsewhere\n";

test("cli.output-file: a result that could not be written is not requested: nothing is sent or paid", async () => {
  await using gateway = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const to = ["--url", gateway.url, ...KEY];
  for (const [command, ...given] of [
    ["transcribe", FILE],
    ["translate", FILE],
    ["chat", "Hello"],
    ["jobs", "wait", "job_1"],
    ["api", "POST", "/v1/chat", "--data", "{}"],
  ] as const) {
    const missing = await run([command, ...given, "-o", "missing/out", ...to], { cwd: directory });
    const place = join(directory, "missing");
    assert.deepEqual(
      [missing.exitCode, missing.stdout, missing.stderr],
      [2, "", `error ${join(place, "out")} cannot be written: there is no directory ${place}.\n${WRITABLE}`],
      command,
    );
    const folder = await run([command, ...given, "-o", ".", ...to], { cwd: directory });
    assert.deepEqual(
      [folder.exitCode, folder.stderr],
      [2, `error ${directory} cannot be written: it is a directory.\n${WRITABLE}`],
    );
  }
  assert.equal(gateway.received.length, 0);
});

test("cli.jobs: jobs wait leaves a second between two looks at a gateway that holds none, because it stops", async () => {
  const lookedAtMs: number[] = [];
  const beganMs = performance.now();
  await using gateway = await fakeGateway((response, _request, count) => {
    lookedAtMs.push(performance.now());
    const status = count < 4 ? "processing" : "cancelled";
    answerJson(response, 200, { ...RUNNING_JOB, status });
  });
  const ran = await run(["jobs", "wait", "job_1", "--url", gateway.url, ...KEY]);
  assert.equal(ran.exitCode, 8, ran.stderr);
  assert.equal(lookedAtMs.length, 4);
  // The first look shows the state of the job, and the second follows at once. Each request may be late, so that only the sum is sure.
  assert.ok((lookedAtMs[3] ?? 0) - beganMs >= 2 * 990);
});

/** The least of one. */
const RUNNING_JOB = {
  object: "transcription.job",
  job_id: "job_1",
  poll_url: "/v1/transcription/jobs/job_1",
  created_at: ENVELOPE.created_at,
  started_at: ENVELOPE.created_at,
  finished_at: null,
  expires_at: null,
  cancel_requested: false,
  attempts: 1,
  progress: { stage: "transcribing", fraction: null },
  metadata: {},
  result: null,
  result_url: null,
  result_expired: false,
  error: null,
  usage: null,
  provider_deletion: "none",
  svc_requested_purpose: null,
  svc_applied_purpose: null,
  svc_purpose_source: "none",
};

test("cli.output-file: -o follows a link to a file that does not exist yet, and requests nothing where it cannot be created", {
  skip: process.platform === "win32" ? "links need rights there" : false,
}, async () => {
  await using gateway = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const transcribed = (output: string) =>
    run(["transcribe", FILE, "-o", output, "--url", gateway.url, ...KEY], { cwd: directory });
  symlinkSync("not-yet.txt", join(directory, "to-come.txt"));
  assert.equal((await transcribed("to-come.txt")).exitCode, 0);
  assert.ok(lstatSync(join(directory, "to-come.txt")).isSymbolicLink());
  assert.equal(await readFile(join(directory, "not-yet.txt"), "utf8"), `${ENVELOPE.content}\n`);
  assert.equal(gateway.received.length, 1);
  symlinkSync(join("nowhere", "out"), join(directory, "to-nowhere.txt"));
  const refused = await transcribed("to-nowhere.txt");
  assert.equal(refused.exitCode, 2);
  assert.match(
    refused.stderr,
    /cannot be written: there is no directory .*nowhere\.\n {2}create its directory, or write elsewhere\n$/u,
  );
  assert.equal(gateway.received.length, 1);
});

test("cli.output-file: -o leaves a pipe a pipe and a link a link: their target gets the result", {
  skip: process.platform === "win32" ? "no such pipes" : false,
}, async () => {
  await using gateway = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const transcribed = (output: string) =>
    run(["transcribe", FILE, "-o", output, "--url", gateway.url, ...KEY], { cwd: directory });
  const pipe = join(directory, "pipe");
  spawnSync("mkfifo", [pipe]);
  const reading = readFile(pipe, "utf8");
  assert.equal((await transcribed(pipe)).exitCode, 0);
  assert.equal(await reading, `${ENVELOPE.content}\n`);
  assert.ok(lstatSync(pipe).isFIFO());
  writeFileSync(join(directory, "first.txt"), "");
  symlinkSync("first.txt", join(directory, "latest.txt"));
  assert.equal((await transcribed("latest.txt")).exitCode, 0);
  assert.equal(readlinkSync(join(directory, "latest.txt")), "first.txt");
  assert.equal(readFileSync(join(directory, "first.txt"), "utf8"), `${ENVELOPE.content}\n`);
});

test("cli.format, cli.output-file: --format requests the format and prints its content, JSON formats the whole answer; -o writes the file instead", async () => {
  await using gateway = await fakeGateway((response) =>
    answerJson(response, 200, { ...ENVELOPE, content: "1\n00:00 --> 00:01\nHello\n" }),
  );
  const srt = await run(["transcribe", FILE, "--format", "srt", "-o", "call.srt", ...KEY, "--url", gateway.url], {
    cwd: directory,
  });
  assert.deepEqual([srt.exitCode, srt.stdout], [0, ""]);
  assert.equal(readFileSync(join(directory, "call.srt"), "utf8"), "1\n00:00 --> 00:01\nHello\n");
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.endsWith(".part")),
    [],
  );
  assert.equal((await partsOf(gateway.received[0])).get("response_format"), "srt");
  const json = await run(["transcribe", FILE, "--format", "verbose_json", ...KEY, "--url", gateway.url]);
  assert.equal((JSON.parse(json.stdout) as { id: string }).id, "tr_1");
  const both = await run([
    "transcribe",
    FILE,
    "--format",
    "srt",
    "--response-format",
    "vtt",
    ...KEY,
    "--url",
    gateway.url,
  ]);
  assert.equal(both.exitCode, 2);
});

test("cli.audio-input: `-` reads the audio from stdin, and an https:// URL is sent as audio.url", async () => {
  await using gateway = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const piped = await run(["transcribe", "-", ...KEY, "--url", gateway.url], {
    stdin: Readable.from([AUDIO.subarray(0, 70_000), AUDIO.subarray(70_000)]),
  });
  assert.equal(piped.exitCode, 0, piped.stderr);
  const file = (await partsOf(gateway.received[0])).get("file");
  assert.ok(file instanceof File);
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), AUDIO);
  await run([
    "transcribe",
    "https://media.example.com/a.mp3?sig=1",
    "--language",
    "de",
    "--media-type",
    "audio/mpeg",
    ...KEY,
    "--url",
    gateway.url,
  ]);
  assert.deepEqual(JSON.parse(gateway.received[1]?.body.toString() ?? ""), {
    language: "de",
    audio: { url: "https://media.example.com/a.mp3?sig=1", media_type: "audio/mpeg" },
  });
});

test("cli.audio-input: --sample sends the bundled sample", async () => {
  await using gateway = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const ran = await run(["transcribe", "--sample", ...KEY, "--url", gateway.url]);
  assert.equal(ran.exitCode, 0, ran.stderr);
  const file = (await partsOf(gateway.received[0])).get("file");
  assert.ok(file instanceof File);
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), readFileSync(join(ROOT, "sandbox/samples/dialogue.mp3")));
  assert.match(ran.stderr, /^routing details: patchbay requests show req_test\nnext: patchbay transcribe FILE /mu);
});

test("cli.retries: a retryable error is sent again under the same Idempotency-Key, as often as Retry-After allows; others are not", async () => {
  await using gateway = await fakeGateway((response, _request, count) =>
    count < 3
      ? answerError(response, 503, "OVERLOADED", true, { "retry-after": "0" })
      : answerJson(response, 200, ENVELOPE),
  );
  const ran = await run(["transcribe", FILE, ...KEY, "--url", gateway.url]);
  assert.equal(ran.exitCode, 0, ran.stderr);
  const keys = gateway.received.map((request) => request.headers["idempotency-key"]);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.match(String(keys[0]), /^cli-[0-9a-f-]{36}$/);
  const bodies = await Promise.all(gateway.received.map(async (request) => (await partsOf(request)).get("file")));
  assert.ok(
    bodies.every((part) => part instanceof File && part.size === AUDIO.length),
    "each try sends the whole audio",
  );

  await using stubborn = await fakeGateway((response) =>
    answerError(response, 429, "RATE_LIMITED", true, { "retry-after": "0" }),
  );
  assert.equal((await run(["transcribe", FILE, ...KEY, "--url", stubborn.url])).exitCode, 6);
  assert.equal(stubborn.received.length, 4);
  await using patient = await fakeGateway((response) =>
    answerError(response, 429, "RATE_LIMITED", true, { "retry-after": "3600" }),
  );
  assert.equal((await run(["transcribe", FILE, ...KEY, "--url", patient.url])).exitCode, 6);
  assert.equal(patient.received.length, 1, "an hour is not waited for");
  await using final = await fakeGateway((response) => answerError(response, 502, "PROVIDER_RESULT_UNKNOWN"));
  assert.equal((await run(["transcribe", FILE, ...KEY, "--url", final.url])).exitCode, 7);
  assert.equal(final.received.length, 1);
});

test("cli.waits-for-answer: a request that broke off is waited for until its answer is there: waiting is not a try", async () => {
  await using gateway = await fakeGateway((response, _request, count) => {
    if (count === 1) return void response.destroy();
    if (count < 12) return answerError(response, 409, "IDEMPOTENCY_REPLAY_IN_PROGRESS", true, { "retry-after": "0" });
    return answerJson(response, 200, ENVELOPE);
  });
  const ran = await run(["transcribe", FILE, ...KEY, "--url", gateway.url]);
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.equal(new Set(gateway.received.map((request) => request.headers["idempotency-key"])).size, 1);
  assert.equal(gateway.received.length, 12);
});

const EXITS: readonly (readonly [ErrorCode, number])[] = [
  ["INVALID_REQUEST", 2],
  ["UNSUPPORTED_MEDIA_TYPE", 2],
  ["UNAUTHENTICATED", 3],
  ["FORBIDDEN", 3],
  ["NOT_FOUND", 4],
  ["IDEMPOTENCY_KEY_REUSED", 5],
  ["AUDIO_TOO_LARGE", 6],
  ["BUDGET_EXCEEDED", 6],
  ["REQUIRED_FEATURE_UNSUPPORTED", 7],
  ["NO_HEALTHY_PROVIDER", 7],
  ["INTERNAL", 1],
];
for (const [code, expected] of EXITS) {
  test(`cli.exit-codes, cli.errors: ${code} exits with ${expected} and prints code, message, what to do and the request id`, async () => {
    await using gateway = await fakeGateway((response) => answerError(response, ERRORS[code].status, code));
    const ran = await run(["transcribe", FILE, ...KEY, "--url", gateway.url]);
    assert.equal(ran.exitCode, expected);
    assert.equal(ran.stdout, "");
    const trace = expected === 7 ? "  see why: patchbay requests show req_test\n" : "";
    assert.equal(
      ran.stderr,
      `error ${code}: The message of ${code}.\n  what to do: http://gateway/docs/errors#${code}\n  request req_test\n${trace}`,
    );
  });
}

test("cli.errors: a refused budget is printed with what is spent, what the request needs, and when it resets", async () => {
  const { error } = exampleError("BUDGET_EXCEEDED");
  await using gateway = await fakeGateway((response) => answerJson(response, 402, { error }));
  const ran = await run(["transcribe", FILE, ...KEY, "--url", gateway.url]);
  assert.equal(ran.exitCode, 6);
  assert.match(
    ran.stderr,
    /^ {2}budget: 0\.00 of 0\.0001 spent, this request needs 0\.000144444; resets at 2026-12-01T00:00:00\.000Z$/mu,
  );
});

test("cli.exit-codes: every error of the catalogue has an exit code of the table, and an unknown one is judged by its status", () => {
  for (const [code, { status }] of Object.entries(ERRORS))
    assert.ok(EXIT_CODE_HELP.includes(`\n  ${exitCodeOf(code, status)} `), code);
  assert.deepEqual(
    [400, 401, 404, 409, 413, 429, 500, 503].map((status) => exitCodeOf("NEW_CODE", status)),
    [2, 3, 4, 5, 6, 6, 1, 7],
  );
});

test("cli.no-gateway: a server that is not a gateway is reported as that, and an unavailable gateway is 7 with what to start", async () => {
  await using proxy = await fakeGateway((response) => response.writeHead(502).end("<html>Bad Gateway</html>"));
  const behind = await run(["transcribe", FILE, ...KEY, "--url", proxy.url]);
  assert.equal(behind.exitCode, 7);
  assert.match(behind.stderr, /502 without an error of a gateway/);
  assert.doesNotMatch(behind.stderr, /html/);
  const closed = await fakeGateway(() => undefined);
  await closed[Symbol.asyncDispose]();
  const absent = await run(["transcribe", FILE, ...KEY, "--url", closed.url]);
  assert.equal(absent.exitCode, 7);
  assert.match(absent.stderr, /patchbay up/);
});

test("cli.api-key: the key is --api-key, PATCHBAY_API_KEY, then the saved one, which is sent to this machine only", async () => {
  const cwd = mkdtempSync(join(directory, "key-"));
  mkdirSync(join(cwd, "var"));
  writeFileSync(join(cwd, "patchbay.yaml"), "storage: { data_dir: ./var }\nunknown: true\n");
  writeFileSync(join(cwd, "var", "cli-key"), "saved-key-of-this-machine\n", { mode: 0o600 });
  await using gateway = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const at = ["--url", gateway.url];
  await run(["transcribe", FILE, ...at, "--api-key", "from-the-option"], {
    cwd,
    env: { PATCHBAY_API_KEY: "from-the-variable" },
  });
  await run(["transcribe", FILE], { cwd, env: { PATCHBAY_API_KEY: "from-the-variable", PATCHBAY_URL: gateway.url } });
  await run(["transcribe", FILE, ...at], { cwd });
  assert.deepEqual(
    gateway.received.map((request) => request.headers.authorization),
    ["Bearer from-the-option", "Bearer from-the-variable", "Bearer saved-key-of-this-machine"],
  );
  const foreign = await run(["transcribe", FILE, "--url", "http://gateway.example.com"], { cwd });
  assert.equal(foreign.exitCode, 3);
  const none = await run(["transcribe", FILE, ...at], { cwd: mkdtempSync(join(directory, "none-")) });
  assert.equal(none.exitCode, 3);
});

test("cli.stream-output: a stream prints its text as it arrives and ends with the answer; a truncated one is a failure", async () => {
  const events = `event: transcript.delta\ndata: {"text":"Hello "}\n\n: ping\n\nevent: transcript.delta\r\ndata: {"text":"there."}\r\n\r\n`;
  const completed = `event: transcript.completed\ndata: ${JSON.stringify(ENVELOPE)}\n\n`;
  await using gateway = await fakeGateway((response, _request, count) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(count <= 2 ? events + completed : events),
  );
  const text = await run(["transcribe", FILE, "--stream", ...KEY, "--url", gateway.url]);
  assert.deepEqual([text.exitCode, text.stdout], [0, "Hello there.\n"]);
  const json = await run(["transcribe", FILE, "--stream", "--json", ...KEY, "--url", gateway.url]);
  assert.deepEqual(JSON.parse(json.stdout), ENVELOPE);
  assert.equal((await run(["transcribe", FILE, "--stream", ...KEY, "--url", gateway.url])).exitCode, 7);
});

test("cli.streams-once: a stream whose connection breaks is not sent again, by either option that requests it, and accepts no key", async () => {
  await using gateway = await fakeGateway((response) => response.destroy());
  for (const [count, flags] of [["--stream"], ["--mode", "realtime"]].entries()) {
    const broken = await run(["transcribe", FILE, ...flags, ...KEY, "--url", gateway.url]);
    assert.deepEqual([broken.exitCode, gateway.received.length], [7, count + 1]);
    assert.equal(gateway.received[count]?.headers["idempotency-key"], undefined);
    const keyed = await run(["transcribe", FILE, ...flags, "--idempotency-key", "k", ...KEY, "--url", gateway.url]);
    assert.deepEqual([keyed.exitCode, gateway.received.length], [2, count + 1]);
  }
});

test("cli.api-key: a refused key that the command does not contain is named by its source", async () => {
  await using gateway = await fakeGateway((response, _request, count) =>
    count === 2 ? answerError(response, 403, "FORBIDDEN") : answerError(response, 401, "UNAUTHENTICATED"),
  );
  const args = ["transcribe", FILE, "--url", gateway.url];
  const env = { PATCHBAY_API_KEY: "key-of-the-variable" };
  for (const code of ["UNAUTHENTICATED", "FORBIDDEN"]) {
    const refused = await run(args, { env });
    assert.equal(refused.exitCode, 3);
    assert.match(refused.stderr, new RegExp(`error ${code}`, "u"));
    assert.match(refused.stderr, /^ {2}the key is that of PATCHBAY_API_KEY: unset it/mu);
  }
  const explicit = await run([...args, ...KEY], { env });
  assert.equal(explicit.exitCode, 3);
  assert.doesNotMatch(explicit.stderr, /PATCHBAY_API_KEY/u);
  const cwd = mkdtempSync(join(tmpdir(), "patchbay-key-source-"));
  try {
    mkdirSync(join(cwd, "data"));
    writeFileSync(join(cwd, "data", "cli-key"), "saved-key\n");
    const saved = await run(args, { cwd });
    assert.match(
      saved.stderr,
      new RegExp(`the key was saved by a gateway started here: is it the one at ${gateway.url}`, "u"),
    );
  } finally {
    rmSync(cwd, { recursive: true });
  }
});

test("cli.terminal: on a terminal stderr has a bar and colour, never with NO_COLOR, and control sequences of a transcript have no effect", async () => {
  await using gateway = await fakeGateway((response, _request, count) =>
    count === 1
      ? answerJson(response, 200, { ...ENVELOPE, content: "a\u001b[2Jb" })
      : answerError(response, 401, "UNAUTHENTICATED"),
  );
  const shown = await run(["transcribe", FILE, ...KEY, "--url", gateway.url], { isTTY: true });
  assert.equal(shown.stdout, "a[2Jb\n");
  assert.match(shown.stderr, /transcribing…/);
  const coloured = await run(["transcribe", FILE, ...KEY, "--url", gateway.url], { isTTY: true });
  assert.ok(coloured.stderr.includes("\u001b[31merror"));
  const plain = await run(["transcribe", FILE, ...KEY, "--url", gateway.url], { isTTY: true, env: { NO_COLOR: "1" } });
  assert.ok(!plain.stderr.includes("\u001b[3"));
  const piped = await run(["transcribe", FILE, ...KEY, "--url", gateway.url]);
  assert.ok(!piped.stderr.includes("\u001b"));
});

test("cli.interrupt: Ctrl-C while waiting ends with 130 and prints how to fetch the answer later", async () => {
  let child: ReturnType<typeof spawn> | undefined;
  await using gateway = await fakeGateway(() => child?.kill("SIGINT"));
  const script = `import { runCli } from ${JSON.stringify(join(ROOT, "src/cli/run-cli.ts"))}; process.exitCode = await runCli(process.argv.slice(1), { up: async () => 0, work: async () => 0, operations: {}, env: {} });`;
  child = spawn(
    process.execPath,
    ["--input-type=module", "-e", script, "--", "transcribe", FILE, ...KEY, "--url", gateway.url],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  assert.equal(code, 130, stderr);
  assert.match(stderr, /--idempotency-key cli-/);
  assert.match(stderr, /error Interrupted\./);
});
