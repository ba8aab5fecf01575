// Pulls from a server that tells the truth and from one that lies, in this process and in others that are killed.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { MANIFEST } from "../../src/local-models/manifest.ts";
import { ModelFault, type ModelFaultKind } from "../../src/local-models/model-fault.ts";
import type { ModelSpec } from "../../src/local-models/model-spec.ts";
import { readStored } from "../../src/local-models/model-store.ts";
import { pullModel, type PullParts, type PullProgress, removeModel } from "../../src/local-models/pull-model.ts";
import { verifyModel } from "../../src/local-models/verify-model.ts";
import { httpServer, httpsServer } from "../outbound/loopback.ts";
import { archiveSource, CONTENTS, demoTar, FILES, specWith } from "./demo-model.ts";
import { breakAfter, type Download, honest, serve, testOutbound } from "./lying-server.ts";

const NOW = new Date("2026-11-26T12:00:00Z");
const never = new AbortController().signal;

function makeDirectory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "patchbay-models-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function partsOf(t: TestContext, dir: string, { host }: Download, own: Partial<PullParts> = {}): PullParts {
  return {
    dir,
    fetch: "on_request",
    outbound: testOutbound(t),
    hosts: [host],
    retryDelaysMs: [],
    now: () => NOW,
    ...own,
  };
}

function pull(spec: ModelSpec, parts: PullParts, steps: PullProgress[] = []) {
  return pullModel(spec, parts, { signal: never, onProgress: (progress) => void steps.push(progress) });
}

async function assertFault(work: Promise<unknown>, kind: ModelFaultKind, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ModelFault, String(error));
    assert.match(error.message, message);
    assert.equal(error.kind, kind, error.message);
    return true;
  });
}

async function assertInstalled(dir: string, spec: ModelSpec): Promise<void> {
  const state = await readStored(dir, spec.name, [spec]);
  assert.ok(state.kind === "installed", JSON.stringify(state));
  assert.equal((await verifyModel(state.model)).ok, true);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name !== ".locks" && name !== ".downloads"),
    [spec.name],
  );
  assert.deepEqual(readdirSync(join(dir, ".downloads")), []);
}

const isAbsent = async (dir: string, spec: ModelSpec): Promise<boolean> =>
  (await readStored(dir, spec.name, [spec])).kind === "absent";

const partOf = (dir: string): string => join(dir, ".downloads", "demo-model", "demo.tar.bz2.part");

test("local-models.pull, local-models.licence: a pull installs the files that the manifest names and records the licence", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const download = await serve(t, content);
  const spec = specWith(archiveSource(download.url, content));
  const steps: PullProgress[] = [];
  const { model, wasInstalled } = await pull(spec, partsOf(t, dir, download), steps);
  assert.equal(wasInstalled, false);
  await assertInstalled(dir, spec);
  assert.deepEqual(readdirSync(model.dir).toSorted(), ["installed.json", "model.onnx", "tokens.txt"]);
  for (const [path, expected] of Object.entries(CONTENTS))
    assert.ok(readFileSync(join(model.dir, path)).equals(expected));
  const record = JSON.parse(readFileSync(join(model.dir, "installed.json"), "utf8"));
  assert.deepEqual(record.licence, { id: "CC-BY-4.0", url: spec.licence.url, accepted_at: NOW.toISOString() });
  assert.deepEqual(record.origin, { kind: "pull" });
  assert.deepEqual([...new Set(steps.map(({ phase }) => phase))], ["downloading", "unpacking", "verifying"]);
  assert.equal(steps.findLast(({ phase }) => phase === "downloading")?.bytes, content.length);
  assert.equal((await pull(spec, partsOf(t, dir, download))).wasInstalled, true);
  assert.equal(download.ranges.length, 1);
});

test("local-models.pull: a model of single files is downloaded file by file", async (t) => {
  const dir = makeDirectory(t);
  const download = await serve(t, (path) => CONTENTS[path.split("/").at(-1) ?? ""] ?? Buffer.alloc(0));
  const spec = specWith({ kind: "files", base: new URL("deep/folder", download.url).href });
  await pull(spec, partsOf(t, dir, download));
  await assertInstalled(dir, spec);
});

test("local-models.manifest: names are unique, every part of an engine is one of the files, and every address is on an allowed host", () => {
  assert.equal(new Set(MANIFEST.map(({ name }) => name)).size, MANIFEST.length);
  for (const { name, engine, files, source, verified } of MANIFEST) {
    const { kind, ...parts } = engine;
    const paths = new Set(files.map(({ path }) => path));
    for (const [part, path] of Object.entries(parts)) assert.ok(paths.has(path), `${name} ${kind} ${part}`);
    for (const { sha256 } of files) assert.match(sha256, /^[0-9a-f]{64}$/u);
    assert.match(
      source?.kind === "archive" ? source.url : (source?.base ?? ""),
      /^https:\/\/(github\.com|huggingface\.co)\//u,
    );
    assert.equal(verified, false, `${name}: no download was compared yet`);
  }
});

test("local-models.checksum: another content of the same length is refused and removed", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const other = Buffer.from(content);
  other[600] = (other[600] ?? 0) ^ 1;
  const download = await serve(t, other);
  const spec = specWith(archiveSource(download.url, content));
  await assertFault(pull(spec, partsOf(t, dir, download)), "mismatch", /has the SHA-256 [0-9a-f]{64} instead of/u);
  assert.ok(await isAbsent(dir, spec));
  assert.equal(existsSync(partOf(dir)), false);
});

test("local-models.checksum: a file of an archive that differs from the manifest is not installed", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const download = await serve(t, content);
  const files = FILES.map((file) => ({ ...file, sha256: "0".repeat(64) }));
  const spec = specWith(archiveSource(download.url, content), { files });
  await assertFault(pull(spec, partsOf(t, dir, download)), "mismatch", /model\.onnx of the archive has the SHA-256/u);
  assert.ok(await isAbsent(dir, spec));
});

test("local-models.ranges: a server that declares another length, sends more, sends less or compresses is refused", async (t) => {
  const content = await demoTar();
  const cases = [
    {
      kind: "mismatch",
      message: /says that .* has 5 bytes instead of/u,
      answer: (_request, response) => void response.writeHead(200, { "content-length": 5 }).end("12345"),
    },
    {
      kind: "mismatch",
      message: /sends more than/u,
      answer: (_request, response, whole) => {
        response.write(whole);
        response.end("and more");
      },
    },
    {
      kind: "network",
      message: /broke off: the server ended it after 100 of/u,
      answer: (_request, response, whole) => {
        response.write(whole.subarray(0, 100));
        response.end();
      },
    },
    {
      kind: "mismatch",
      message: /compressed \(gzip\)/u,
      answer: (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end("x"),
    },
    {
      kind: "mismatch",
      message: /a part of .*, although the whole was asked for/u,
      answer: (_request, response) => void response.writeHead(206, { "content-range": "bytes 0-4/5" }).end("12345"),
    },
    { kind: "network", message: /answers 404/u, answer: (_request, response) => void response.writeHead(404).end() },
    { kind: "network", message: /answers 503/u, answer: (_request, response) => void response.writeHead(503).end() },
  ] as const satisfies readonly { kind: ModelFaultKind; message: RegExp; answer: typeof honest }[];
  for (const { kind, message, answer } of cases) {
    const dir = makeDirectory(t);
    const download = await serve(t, content, answer);
    const spec = specWith(archiveSource(download.url, content));
    await assertFault(pull(spec, partsOf(t, dir, download)), kind, message);
    assert.ok(await isAbsent(dir, spec));
  }
});

test("local-models.ranges: a server that ignores or misunderstands the range is asked for the whole file", async (t) => {
  const content = await demoTar();
  const cases: readonly { readonly answer: typeof honest; readonly requests: number }[] = [
    // Ignores it.
    { answer: (_request, response, whole) => void response.end(whole), requests: 2 },
    // Continues elsewhere.
    {
      answer: (request, response, whole) => {
        if (request.headers.range === undefined) return void response.end(whole);
        response
          .writeHead(206, { "content-range": `bytes 7-${whole.length - 1}/${whole.length}` })
          .end(whole.subarray(7));
      },
      requests: 3,
    },
    // Has no Content-Range at all.
    {
      answer: (request, response, whole) =>
        void response.writeHead(request.headers.range === undefined ? 200 : 206).end(whole),
      requests: 3,
    },
    {
      answer: (request, response, whole) =>
        void (request.headers.range === undefined ? response.end(whole) : response.writeHead(416).end()),
      requests: 3,
    },
  ];
  for (const { answer, requests } of cases) {
    const dir = makeDirectory(t);
    let count = 0;
    const download = await serve(t, content, (request, response, whole) =>
      (count++ === 0 ? breakAfter(1_000) : answer)(request, response, whole),
    );
    const spec = specWith(archiveSource(download.url, content));
    await assertFault(pull(spec, partsOf(t, dir, download)), "network", /broke off/u);
    await pull(spec, partsOf(t, dir, download));
    await assertInstalled(dir, spec);
    assert.equal(download.ranges.length, requests);
  }
});

test("local-models.ranges: a range of a file that has another length now is refused", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  let count = 0;
  const download = await serve(t, content, (request, response, whole) => {
    if (count++ === 0) return breakAfter(1_000)(request, response, whole);
    response.writeHead(206, { "content-range": `bytes 1000-${whole.length}/${whole.length + 1}` }).end();
  });
  const spec = specWith(archiveSource(download.url, content));
  await assertFault(pull(spec, partsOf(t, dir, download)), "network", /broke off/u);
  await assertFault(pull(spec, partsOf(t, dir, download)), "mismatch", /bytes instead of/u);
});

test("local-models.resume: a broken connection is continued by itself, from where it broke", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  let count = 0;
  const download = await serve(t, content, (request, response, whole) =>
    (count++ === 0 ? breakAfter(1_000) : honest)(request, response, whole),
  );
  const spec = specWith(archiveSource(download.url, content));
  const steps: PullProgress[] = [];
  await pull(spec, partsOf(t, dir, download, { retryDelaysMs: [0] }), steps);
  await assertInstalled(dir, spec);
  assert.deepEqual(download.ranges, [null, "bytes=1000-"]);
  const retry = steps.find(({ phase }) => phase === "retrying");
  assert.match(retry?.message ?? "", /^the connection failed \(\w+\), trying again in 0 s$/u);
  assert.equal(retry?.bytes, 1_000);
});

test("local-models.redirects: only HTTPS addresses of allowed hosts are followed, and not without end", async (t) => {
  const content = await demoTar();
  const plain = await httpServer(t, (_request, response) => void response.end(content));
  const other = await httpsServer(t, (_request, response) => void response.end(content));
  const cases = [
    [plain.href, /would leave HTTPS: http:/u],
    [other.href, /which is not one of its hosts/u],
    ["/again", /redirected more than 5 times/u],
    ["https://", /redirects to nowhere/u],
    ["ftp://127.0.0.1/", /would leave HTTPS/u],
  ] as const;
  for (const [location, message] of cases) {
    const dir = makeDirectory(t);
    const download = await serve(t, content, (_request, response) => void response.writeHead(302, { location }).end());
    const spec = specWith(archiveSource(download.url, content));
    await assertFault(pull(spec, partsOf(t, dir, download)), "network", message);
    assert.ok(await isAbsent(dir, spec));
  }
  const dir = makeDirectory(t);
  const source = await serve(t, content, (request, response) => {
    const location = `${other.href}file?signature=secret`;
    response.writeHead(request.url === "/demo.tar.bz2" ? 302 : 404, { location }).end();
  });
  const spec = specWith(archiveSource(source.url, content));
  await pull(spec, partsOf(t, dir, source, { hosts: [source.host, other.host] }));
  await assertInstalled(dir, spec);
});

test("local-models.fetch-never: no download is started", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const download = await serve(t, content);
  const spec = specWith(archiveSource(download.url, content));
  await assertFault(
    pull(spec, partsOf(t, dir, download, { fetch: "never" })),
    "refused",
    /`models\.fetch` is `never`/u,
  );
  assert.deepEqual(download.ranges, []);
  assert.deepEqual(readdirSync(dir), []);
});

test("local-models.disk-full: too little room is reported before the download, a full disk during it, and what arrived is kept", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const download = await serve(t, content);
  const spec = specWith(archiveSource(download.url, content));
  const parts = partsOf(t, dir, download);
  await assertFault(pull(spec, { ...parts, freeBytes: async () => 1_000 }), "disk", /has 0\.0 MB of free space/u);
  assert.deepEqual(download.ranges, []);
  const openPart: typeof open = async (...args) => {
    const handle = await open(...args);
    const write = handle.appendFile.bind(handle);
    let isFull = false;
    handle.appendFile = async (data) => {
      if (isFull) throw Object.assign(new Error("no space left on device, write"), { code: "ENOSPC" });
      isFull = true;
      await write(Buffer.from(data as Uint8Array).subarray(0, 500));
    };
    return handle;
  };
  await assertFault(pull(spec, { ...parts, openPart }), "disk", /The disk is full \(ENOSPC\)/u);
  assert.equal(statSync(partOf(dir)).size, 500);
  await pull(spec, parts);
  assert.equal(download.ranges.at(-1), "bytes=500-");
  await assertInstalled(dir, spec);
});

test("local-models.rm: removes the model, and what was downloaded of one", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  let isBroken = true;
  const download = await serve(t, content, (...args) => (isBroken ? breakAfter(1_000) : honest)(...args));
  const spec = specWith(archiveSource(download.url, content));
  await assertFault(pull(spec, partsOf(t, dir, download)), "network", /broke off/u);
  assert.equal(await removeModel(dir, spec.name, never), true);
  assert.equal(existsSync(partOf(dir)), false);
  isBroken = false;
  await pull(spec, partsOf(t, dir, download));
  assert.equal(await removeModel(dir, spec.name, never), true);
  assert.ok(await isAbsent(dir, spec));
  assert.equal(await removeModel(dir, spec.name, never), false);
});

test("local-models.verify: a flipped byte, a missing and a shortened file are found, and a pull repairs them", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const download = await serve(t, content);
  const spec = specWith(archiveSource(download.url, content));
  const parts = partsOf(t, dir, download);
  const { model } = await pull(spec, parts);
  const path = join(model.dir, "model.onnx");
  const damages: readonly (() => void)[] = [
    () => {
      const bytes = readFileSync(path);
      bytes[1_000] = (bytes[1_000] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    },
    () => rmSync(path),
    () => writeFileSync(path, readFileSync(path).subarray(0, 10)),
    () => writeFileSync(join(model.dir, "installed.json"), "{"),
  ];
  for (const damage of damages) {
    damage();
    const { ok } = await verifyModel(model);
    const state = await readStored(dir, spec.name, [spec]);
    assert.ok(!ok || state.kind === "damaged");
    assert.equal((await pull(spec, parts)).wasInstalled, false);
    await assertInstalled(dir, spec);
  }
  const trial = await verifyModel(model, { tryModel: async () => "recognises nothing" });
  assert.deepEqual([trial.ok, trial.trial], [false, "recognises nothing"]);
});

test("local-models.resume, local-models.atomic: a pull killed at 37 % continues there in another process", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const sent = Math.floor(content.length * 0.37);
  const stalled = Promise.withResolvers<void>();
  let count = 0;
  const download = await serve(t, content, (request, response, whole) => {
    if (count++ > 0) return honest(request, response, whole);
    response.writeHead(200, { "content-length": whole.length });
    response.write(whole.subarray(0, sent), () => stalled.resolve());
  });
  const spec = specWith(archiveSource(download.url, content));
  const first = pullInProcess(t, spec, dir, download);
  await stalled.promise;
  await first.line(`downloading ${sent}`);
  first.child.kill("SIGKILL");
  await first.ended;
  assert.equal(statSync(partOf(dir)).size, sent);
  assert.ok(await isAbsent(dir, spec));
  const second = pullInProcess(t, spec, dir, download);
  assert.equal(await second.ended, 0);
  assert.ok(second.lines.includes("installed"));
  assert.deepEqual(download.ranges, [null, `bytes=${sent}-`]);
  await assertInstalled(dir, spec);
});

test("local-models.one-pull: of two processes one downloads, and the other waits for it", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const isWaiting = Promise.withResolvers<void>();
  const download = await serve(t, content, (request, response, whole) => {
    void isWaiting.promise.then(() => honest(request, response, whole));
  });
  const spec = specWith(archiveSource(download.url, content));
  const both = [pullInProcess(t, spec, dir, download), pullInProcess(t, spec, dir, download)] as const;
  await Promise.race(both.map((each) => each.line("waiting 0")));
  isWaiting.resolve();
  assert.deepEqual(await Promise.all(both.map((each) => each.ended)), [0, 0]);
  assert.deepEqual(both.map(({ lines }) => lines.at(-1) ?? "").toSorted(), ["installed", "was installed"]);
  assert.equal(download.ranges.length, 1);
  await assertInstalled(dir, spec);
});

test("local-models.resume, local-models.import: a download of which nothing arrives says how to install the same file without internet", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const download = await serve(t, content, (_request, response) => void response.destroy());
  const spec = specWith(archiveSource(download.url, content));
  await assert.rejects(pull(spec, partsOf(t, dir, download)), (error) => {
    assert.ok(error instanceof ModelFault, String(error));
    const name = new URL(download.url).pathname.split("/").at(-1);
    assert.ok(error.hints.at(-1)?.endsWith(`and run: patchbay models import ${name}`), error.hints.join("\n"));
    return true;
  });
});

test("local-models.trust: NODE_EXTRA_CA_CERTS is honoured, and an unknown certificate is refused", async (t) => {
  const dir = makeDirectory(t);
  const content = await demoTar();
  const download = await serve(t, content);
  const spec = specWith(archiveSource(download.url, content));
  const refused = pullInProcess(t, spec, dir, download, {}, "none");
  assert.equal(await refused.ended, 1);
  assert.match(refused.lines.join("\n"), /failed The download of .* broke off: the connection failed/u);
  assert.deepEqual(download.ranges, []);
  const ca = new URL("../fixtures/tls/ca.pem", import.meta.url).pathname;
  const trusted = pullInProcess(t, spec, dir, download, { NODE_EXTRA_CA_CERTS: ca }, "none");
  assert.equal(await trusted.ended, 0, trusted.lines.join("\n"));
});

interface PullProcess {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  /** Resolves when it has printed the line, and rejects if it ends before. */
  readonly line: (text: string) => Promise<void>;
  readonly ended: Promise<number | null>;
}

function pullInProcess(
  t: TestContext,
  spec: ModelSpec,
  dir: string,
  { host }: Download,
  env: Readonly<Record<string, string>> = {},
  ca: "given" | "none" = "given",
): PullProcess {
  const file = `${dir}.json`;
  writeFileSync(file, JSON.stringify(spec));
  t.after(() => rmSync(file, { force: true }));
  const child = spawn(process.execPath, [join(import.meta.dirname, "pull-process.ts"), file, dir, host, ca], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], ...env },
  });
  t.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  const waiting: { readonly text: string; readonly done: () => void }[] = [];
  createInterface({ input: child.stdout }).on("line", (text) => {
    lines.push(text);
    for (const each of waiting) if (each.text === text) each.done();
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const line = async (text: string): Promise<void> => {
    if (lines.includes(text)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ text, done: resolve });
    void ended.then(() => reject(new Error(`it ended without ${text}: ${lines.join(", ")}`)));
    await promise;
  };
  return { child, lines, line, ended };
}
