// `patchbay transcribe` with several files and folders, against a loopback server: what is sent, what is written where, and how it ends.
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { z } from "zod";
import { findRecordings } from "../../src/cli/use/batch/find-recordings.ts";
import { outputPaths } from "../../src/cli/use/batch/output-paths.ts";
import {
  answerError,
  answerJson,
  ENVELOPE,
  type FakeGateway,
  fakeGateway,
  type Received,
  run,
} from "./fake-gateway.ts";

const root = mkdtempSync(join(tmpdir(), "patchbay-batch-"));
after(() => rmSync(root, { recursive: true }));

/** A new folder with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(root, "case-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const contentOf = ({ body }: Received): string =>
  /application\/octet-stream\r\n\r\n([\s\S]*)\r\n--patchbay-/u.exec(body.toString())?.[1] ?? "";
const keyOf = ({ headers }: Received): unknown => headers["idempotency-key"];

/** Answers with the recording's own bytes as text, and refuses those that begin with `BAD`. */
function echoing(): Promise<FakeGateway> {
  return fakeGateway((response, request) => {
    const content = contentOf(request);
    if (content.startsWith("BAD")) answerError(response, 400, "INVALID_AUDIO");
    else answerJson(response, 200, { ...ENVELOPE, content: `text of ${content}` });
  });
}

const connect = (gateway: FakeGateway) => ["--url", gateway.url, "--api-key", "test-key-of-the-cli-0123456789"];

const summary = z.object({
  object: z.literal("transcription_batch"),
  files: z.array(z.object({ input: z.string(), output: z.string().nullable(), status: z.string() }).loose()),
  transcribed: z.int(),
  skipped: z.int(),
  failed: z.int(),
  not_sent: z.int(),
  audio_seconds: z.number(),
});

test("cli.batch, cli.batch-again: files and folders become one output each; a second run sends nothing and says so; --force sends all under new keys", async () => {
  await using gateway = await echoing();
  const cwd = folderOf({
    "a call.mp3": "one",
    "calls/zwölf.wav": "two",
    "calls/deep/日本.m4a": "three",
    "calls/notes.md": "",
  });
  const argv = ["transcribe", "a call.mp3", "calls", "--out-dir", "out", "--format", "srt", ...connect(gateway)];
  const first = await run(argv, { cwd });
  assert.equal(first.exitCode, 0, first.stderr);
  assert.equal(first.stdout, "");
  assert.equal(readFileSync(join(cwd, "out/a call.srt"), "utf8"), "text of one\n");
  assert.equal(readFileSync(join(cwd, "out/zwölf.srt"), "utf8"), "text of two\n");
  assert.equal(readFileSync(join(cwd, "out/deep/日本.srt"), "utf8"), "text of three\n");
  assert.match(first.stderr, /^transcribed {2}a call\.mp3 -> out\/a call\.srt {2}\(1\.5 s of audio\)$/mu);
  assert.match(first.stderr, /^warning SIMULATED_PROVIDER: .* \(3 files\)$/mu);
  assert.ok(first.stderr.endsWith("\n3 files: 3 transcribed. 4.5 s of audio.\n"), first.stderr);
  const again = await run(argv, { cwd });
  assert.deepEqual([again.exitCode, gateway.received.length], [0, 3]);
  assert.match(again.stderr, /^skipped {6}a call\.mp3: out\/a call\.srt exists \(--force replaces it\)$/mu);
  assert.ok(again.stderr.endsWith("\n3 files: 0 transcribed, 3 skipped. 0 s of audio.\n"), again.stderr);
  writeFileSync(join(cwd, "out/a call.srt"), "edited");
  const forced = await run([...argv, "--force", "--json"], { cwd });
  assert.equal(summary.parse(JSON.parse(forced.stdout)).transcribed, 3);
  assert.equal(readFileSync(join(cwd, "out/a call.srt"), "utf8"), "text of one\n");
  assert.equal(new Set(gateway.received.map(keyOf)).size, 6);
});

test("cli.batch-again: the same content and fields have the same key in every run and under every name, others have another", async () => {
  await using gateway = await echoing();
  const sentKey = async (content: string, name: string, ...more: readonly string[]): Promise<unknown> => {
    const cwd = folderOf({ [name]: content });
    const ran = await run(["transcribe", name, "--out-dir", "out", ...more, ...connect(gateway)], { cwd });
    assert.equal(ran.exitCode, 0, ran.stderr);
    const last = gateway.received.at(-1);
    return last === undefined ? null : keyOf(last);
  };
  const key = await sentKey("same", "a.mp3");
  assert.match(String(key), /^cli-[0-9a-f]{48}$/u);
  assert.equal(await sentKey("same", "b.wav"), key);
  assert.notEqual(await sentKey("other", "a.mp3"), key);
  assert.notEqual(await sentKey("same", "a.mp3", "--language", "de"), key);
});

test("cli.batch, cli.exit-codes: one that fails or cannot be read is reported, the others are done, and the exit code is that of the failures", async () => {
  await using gateway = await echoing();
  const cwd = folderOf({ "bad.mp3": "BAD", "good.mp3": "good", "empty/readme.txt": "", "old/a.flac": "" });
  symlinkSync("nowhere.mp3", join(cwd, "dangling.mp3"));
  symlinkSync("loop.mp3", join(cwd, "loop.mp3"));
  const names = ["bad.mp3", "missing.mp3", "dangling.mp3", "loop.mp3", "empty", "old", "good.mp3"];
  const argv = ["transcribe", ...names, "--out-dir", "out", "--json", ...connect(gateway)];
  const ran = await run(argv, { cwd });
  assert.equal(ran.exitCode, 2, ran.stderr);
  assert.deepEqual(readdirSync(join(cwd, "out")), ["good.txt"]);
  assert.match(ran.stderr, /^failed {7}bad\.mp3: INVALID_AUDIO: The message of INVALID_AUDIO\.\n {2}what to do: /mu);
  assert.match(ran.stderr, /^failed {7}missing\.mp3: There is no file /mu);
  assert.match(ran.stderr, /^failed {7}dangling\.mp3: There is no file /mu);
  assert.match(ran.stderr, /^failed {7}loop\.mp3: .* cannot be read \(ELOOP\)\./mu);
  assert.match(ran.stderr, /^There are no recordings in empty\.$/mu);
  assert.match(ran.stderr, /^ignored old\/a\.flac: convert it/mu);
  assert.match(ran.stderr, /^error 4 of 5 files have no transcript\.$/mu);
  const { files, transcribed, failed } = summary.parse(JSON.parse(ran.stdout));
  assert.deepEqual([transcribed, failed, files.length], [1, 4, 5]);
  assert.deepEqual(files.find(({ input }) => input === "bad.mp3")?.["error"], {
    code: "INVALID_AUDIO",
    message: "INVALID_AUDIO: The message of INVALID_AUDIO.",
    request_id: "req_test",
  });
  const nothing = await run(["transcribe", "empty", "--out-dir", "none", ...connect(gateway)], { cwd });
  assert.deepEqual([nothing.exitCode, existsSync(join(cwd, "none"))], [4, false]);
});

test("cli.batch: an error that all files would have stops the rest: no gateway, an invalid key, no budget", async () => {
  const cwd = folderOf({ "1.mp3": "1", "2.mp3": "2", "3.mp3": "3" });
  for (const [status, code, exitCode] of [
    [401, "UNAUTHENTICATED", 3],
    [402, "BUDGET_EXCEEDED", 6],
  ] as const) {
    await using gateway = await fakeGateway((response) => answerError(response, status, code));
    const argv = ["transcribe", "1.mp3", "2.mp3", "3.mp3", "--out-dir", "out", "--concurrency", "1"];
    const ran = await run([...argv, ...connect(gateway)], { cwd });
    assert.deepEqual([ran.exitCode, gateway.received.length], [exitCode, 1], ran.stderr);
    assert.match(ran.stderr, /^3 files: 0 transcribed, 1 failed, 2 not sent\./mu);
  }
});

test("cli.batch-names: two recordings never share an output, and the same recordings have the same names in every run", async () => {
  await using gateway = await echoing();
  const cwd = folderOf({ "mon/a.mp3": "1", "tue/a.mp3": "2", "tue/b.mp3": "3", "tue/b.wav": "4", "tue/B.mp4": "5" });
  const ran = await run(["transcribe", "mon/a.mp3", "tue", "--out-dir", "out", ...connect(gateway)], { cwd });
  assert.equal(ran.exitCode, 0, ran.stderr);
  const texts = (folder: string): readonly string[] =>
    readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .toSorted();
  assert.deepEqual(
    texts("out"),
    ["1", "2", "3", "4", "5"].map((each) => `text of ${each}\n`),
  );
  assert.deepEqual(readdirSync(join(cwd, "out")).toSorted(), ["B.mp4.txt", "b.mp3.txt", "b.wav.txt", "mon", "tue"]);
  const one = (source: string, place: string, parent: string) => ({ source, label: source, place, parent });
  assert.deepEqual(
    outputPaths([one("/x/d/a.mp3", "a.mp3", "d"), one("/y/d/a.mp3", "a.mp3", "d"), one("/v1.2", "v1.2", "")]),
    ["a.mp3-140d96cfa007.txt", "a.mp3-241a8540e9b5.txt", "v1.2.txt"],
  );
  const composed = one("/1", "\u00e9.mp3", "");
  const decomposed = one("/2", "e\u0301.wav", "");
  assert.deepEqual(outputPaths([composed, decomposed], "vtt"), ["\u00e9.mp3.vtt", "e\u0301.wav.vtt"]);
});

test("cli.batch-input: folders are read once, in order, through links and without hidden files; URLs have the name of their path", async () => {
  const cwd = folderOf({
    "rec/b.mp3": "",
    "rec/a.MP3": "",
    "rec/._a.mp3": "",
    "rec/.git/c.mp3": "",
    "other/d.wav": "",
  });
  symlinkSync("..", join(cwd, "rec/loop"));
  symlinkSync(join(cwd, "other"), join(cwd, "rec/other"));
  const { recordings, failures } = await findRecordings(
    ["rec", "rec/b.mp3", "https://media.acme.example/2026/town%20hall.mp3?signature=x"],
    cwd,
  );
  assert.deepEqual(failures, []);
  assert.deepEqual(
    recordings.map(({ label, place }) => [label, place]),
    [
      ["rec/a.MP3", "a.MP3"],
      ["rec/b.mp3", "b.mp3"],
      ["rec/loop/other/d.wav", "loop/other/d.wav"],
      ["https://media.acme.example/2026/town%20hall.mp3?signature=x", "town hall.mp3"],
    ],
  );
});

const CLEAR = "\r\u001b[K";

test("cli.batch-progress: a terminal shows the files in progress in its last line, anything else plain lines", async () => {
  await using gateway = await echoing();
  const cwd = folderOf({ "a.mp3": "one", "b.mp3": "two" });
  const argv = ["transcribe", "a.mp3", "b.mp3", "--force", "--out-dir", "out", ...connect(gateway)];
  const shown = await run(argv, { cwd, isTTY: true, env: { NO_COLOR: "1" } });
  assert.ok(shown.stderr.includes(`${CLEAR}[0/2] a.mp3 transcribing`), shown.stderr);
  assert.ok(shown.stderr.includes(`${CLEAR}transcribed  a.mp3 -> `), shown.stderr);
  const plain = await run(argv, { cwd });
  assert.ok(!plain.stderr.includes("\r") && !plain.stderr.includes("\u001b"), plain.stderr);
});

test("cli.batch-jobs: --jobs submits durable jobs, waits for them, and submits one that failed again under another key", async () => {
  const jobs: { readonly content: string; readonly key: unknown; status: string }[] = [];
  const view = (index: number) => {
    const isDone = jobs[index]?.status === "succeeded";
    return {
      object: "transcription.job",
      job_id: `job_${index}`,
      status: jobs[index]?.status,
      poll_url: `/v1/transcription/jobs/job_${index}`,
      created_at: ENVELOPE.created_at,
      started_at: ENVELOPE.created_at,
      finished_at: ENVELOPE.created_at,
      expires_at: null,
      cancel_requested: false,
      attempts: 1,
      progress: { stage: "done", fraction: 1 },
      metadata: {},
      result: isDone ? { ...ENVELOPE, content: `text of ${jobs[index]?.content}` } : null,
      result_url: null,
      result_expired: false,
      error: isDone
        ? null
        : { code: "PROVIDER_TIMEOUT", type: "x", message: "Late.", param: null, retryable: true, details: null },
      usage: isDone ? ENVELOPE.usage : null,
      provider_deletion: "none",
      simulated: false,
      svc_requested_purpose: null,
      svc_applied_purpose: null,
      svc_purpose_source: "none",
    };
  };
  await using gateway = await fakeGateway((response, request) => {
    if (request.method === "GET") return answerJson(response, 200, view(Number(/job_(\d+)/u.exec(request.path)?.[1])));
    const before = jobs.findIndex(({ key }) => key === keyOf(request));
    const content = contentOf(request);
    // The first job of `flaky` fails.
    const isFailure = content === "flaky" && jobs.every((each) => each.content !== "flaky");
    const index =
      before >= 0
        ? before
        : jobs.push({ content, key: keyOf(request), status: isFailure ? "failed" : "succeeded" }) - 1;
    const { job_id, poll_url, created_at } = view(index);
    const replayed = { "x-svc-idempotent-replay": String(before >= 0) };
    return answerJson(
      response,
      202,
      { object: "transcription.job", job_id, status: "queued", poll_url, created_at },
      replayed,
    );
  });
  const cwd = folderOf({ "a.mp3": "steady", "b.mp3": "flaky" });
  const argv = ["transcribe", "a.mp3", "b.mp3", "--out-dir", "out", "--jobs", ...connect(gateway)];
  const first = await run(argv, { cwd });
  assert.equal(first.exitCode, 8, first.stderr);
  assert.match(
    first.stderr,
    /^failed {7}b\.mp3: The job failed\. PROVIDER_TIMEOUT: Late\.\n {2}submitting it again may help/mu,
  );
  assert.deepEqual(readdirSync(join(cwd, "out")), ["a.txt"]);
  const second = await run(argv, { cwd });
  assert.equal(second.exitCode, 0, second.stderr);
  assert.equal(readFileSync(join(cwd, "out/b.txt"), "utf8"), "text of flaky\n");
  assert.equal(jobs.length, 3);
  rmSync(join(cwd, "out"), { recursive: true });
  assert.equal((await run(argv, { cwd })).exitCode, 0);
  assert.equal(jobs.length, 3, "a job that is there is waited for, not submitted again");
});

test("cli.usage-errors, cli.batch: what several files cannot have is refused before anything is sent", async () => {
  await using gateway = await echoing();
  const cwd = folderOf({ "a.mp3": "one", "b.mp3": "two", file: "" });
  for (const words of [
    "a.mp3 b.mp3",
    "a.mp3 --jobs",
    "a.mp3 --force",
    "a.mp3 --out-dir out -o x",
    "a.mp3 --out-dir out --stream",
    "a.mp3 --out-dir out --mode realtime",
    "a.mp3 --out-dir out --idempotency-key k",
    "a.mp3 - --out-dir out",
    "a.mp3 --sample --out-dir out",
    "--out-dir out",
    "a.mp3 b.mp3 --out-dir file",
    "a.mp3 --out-dir out --concurrency 65",
    ".",
  ]) {
    const { exitCode, stderr } = await run(["transcribe", ...words.split(" "), ...connect(gateway)], { cwd });
    assert.equal(exitCode, 2, `${words}: ${stderr}`);
    assert.match(stderr, /^error .+\n {2}.+\n/u, words);
  }
  assert.equal(gateway.received.length, 0);
  assert.match(
    (await run(["transcribe", ".", ...connect(gateway)], { cwd })).stderr,
    /is a folder\.\n {2}.*--out-dir/u,
  );
});

test("cli.batch, cli.translate: translate with several files sends each to the translation endpoint, and reports translations", async () => {
  await using gateway = await echoing();
  const cwd = folderOf({ "calls/one.wav": "one", "calls/two.wav": "two", "calls/bad.wav": "BAD" });
  const argv = ["translate", "calls", "--out-dir", "out", "--to-language", "de", "--json", ...connect(gateway)];
  const ran = await run(argv, { cwd });
  assert.deepEqual(
    gateway.received.map(({ path }) => path),
    Array.from({ length: 3 }, () => "/v1/translation"),
  );
  for (const { body } of gateway.received) assert.match(body.toString(), /name="to_language"\r\n\r\nde\r\n/u);
  assert.equal(readFileSync(join(cwd, "out/one.txt"), "utf8"), "text of one\n");
  assert.match(ran.stderr, /^translated +calls\/one\.wav -> out\/one\.txt {2}\(1\.5 s of audio\)$/mu);
  assert.match(ran.stderr, /^3 files: 2 translated, 1 failed\. 3 s of audio\.$/mu);
  assert.match(ran.stderr, /1 of 3 files has no translation\./u);
  const document = JSON.parse(ran.stdout) as { object: string; translated: number; files: { status: string }[] };
  assert.deepEqual([document.object, document.translated], ["translation_batch", 2]);
  assert.deepEqual(document.files.map(({ status }) => status).toSorted(), ["failed", "translated", "translated"]);
  const alone = await run(["translate", "calls/one.wav", "--force", ...connect(gateway)], { cwd });
  assert.equal(alone.exitCode, 2);
  assert.match(alone.stderr, /Several files, and --force and --concurrency, need a directory\./u);
  // A job would be a transcription.
  assert.equal((await run(["translate", "calls", "--out-dir", "out", "--jobs"], { cwd })).exitCode, 2);
});
