// `patchbay models` as people and scripts call it.
import assert from "node:assert/strict";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { openDownloads } from "../../src/compose/outbound.ts";
import { proxySettings } from "../../src/config/proxy-settings.ts";
import { localModelList } from "../../src/contract/admin/local-models.ts";
import { PROCESS_NUMBER } from "../../src/cli/process-number.ts";
import { DEFAULT_MODEL, MANIFEST } from "../../src/local-models/manifest.ts";
import type { ModelSpec } from "../../src/local-models/model-spec.ts";
import type { ModelSources } from "../../src/operations/models/model-command.ts";
import { createOutbound } from "../../src/outbound/dial.ts";
import { run, type RunOptions } from "../cli/fake-gateway.ts";
import { TLS } from "../outbound/loopback.ts";
import { archiveSource, demoTar, specWith } from "./demo-model.ts";
import { type Download, honest, serve, testOutbound } from "./lying-server.ts";

const ARCHIVE = join(import.meta.dirname, "../fixtures/local-models/demo-model.tar.bz2");

interface Place {
  readonly cwd: string;
  readonly models: string;
  readonly download: Download;
  readonly spec: ModelSpec;
  readonly patchbay: (argv: readonly string[], options?: Omit<RunOptions, "cwd">) => ReturnType<typeof run>;
}

async function openPlace(
  t: TestContext,
  sources: Partial<ModelSources> = {},
  answer: typeof honest = honest,
): Promise<Place> {
  const cwd = mkdtempSync(join(tmpdir(), "patchbay-models-cli-"));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const content = await demoTar();
  const download = await serve(t, content, answer);
  const spec = specWith(archiveSource(download.url, content));
  const models: ModelSources = {
    openDownloads: async () => testOutbound(t),
    manifest: [spec],
    hosts: [download.host],
    ...sources,
  };
  return {
    cwd,
    models: join(cwd, "data/models"),
    download,
    spec,
    patchbay: (argv, options = {}) => run(["models", ...argv], { models, ...options, cwd }),
  };
}

test("local-models.list: lists what can be pulled, and what is installed, with licence and figures", async (t) => {
  const { patchbay } = await openPlace(t, { manifest: MANIFEST });
  const listed = await patchbay(["list"]);
  assert.equal(listed.exitCode, 0);
  const line = listed.stdout.split("\n").find((each) => each.startsWith("parakeet-110m-en"));
  assert.match(
    line ?? "",
    /available +recogniser +en +words segments punctuation +104 MB +132 MB +CC-BY-4\.0 +second-hand/u,
  );
  assert.match(listed.stdout, /parakeet-0\.6b-v3 .* 25 languages /u);
  assert.match(listed.stderr, /Directory: .*data\/models/u);
  assert.match(listed.stderr, /^Next: patchbay models pull \S+$/mu);
  const { data } = localModelList.parse(JSON.parse((await patchbay(["ls", "--json"])).stdout));
  assert.deepEqual(
    data.map(({ name }) => name),
    MANIFEST.map(({ name }) => name),
  );
  assert.deepEqual(
    data.filter((model) => model.default).map(({ name }) => name),
    ["parakeet-110m-en"],
  );
});

test("local-models.licence: without a terminal and without an option nothing is downloaded, exit code 2", async (t) => {
  const { patchbay, download, spec } = await openPlace(t);
  const refused = await patchbay(["pull", spec.name]);
  assert.equal(refused.exitCode, 2);
  assert.match(refused.stderr, /licence +CC-BY-4\.0, https:\/\/creativecommons/u);
  assert.match(refused.stderr, /download +0\.3 MB from 127\.0\.0\.1:\d+ \(demo\.tar\.bz2\)/u);
  assert.match(refused.stderr, /The licence has to be accepted.*\n.*--accept-licence/u);
  assert.deepEqual(download.ranges, []);
});

test("local-models.licence: on a terminal the answer decides", async (t) => {
  const { patchbay, download, spec, models } = await openPlace(t);
  const answer = (text: string) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.write(`${text}\n`);
    return patchbay(["pull", spec.name], { stdin, isTTY: true });
  };
  const no = await answer("n");
  assert.equal(no.exitCode, 2);
  assert.match(no.stderr, /Accept CC-BY-4\.0 and download\? \[y\/N\]/u);
  assert.deepEqual(download.ranges, []);
  const yes = await answer("y");
  assert.equal(yes.exitCode, 0, yes.stderr);
  assert.ok(yes.stderr.includes("demo-model downloading ["), yes.stderr);
  assert.match(readFileSync(join(models, "demo-model/installed.json"), "utf8"), /"accepted_at"/u);
});

test("local-models.pull, local-models.progress: a script pulls with an option, sees a line a step, and a second pull downloads nothing", async (t) => {
  const { patchbay, download, spec, models } = await openPlace(t);
  const pulled = await patchbay(["pull", spec.name, "--accept-licence", "--json"]);
  assert.equal(pulled.exitCode, 0, pulled.stderr);
  const { data } = localModelList.parse(JSON.parse(pulled.stdout));
  assert.deepEqual(
    data.map(({ name, state, figures }) => [name, state, figures]),
    [["demo-model", "installed", "confirmed"]],
  );
  assert.match(pulled.stderr, /^demo-model: downloading 100 %, 0\.3 MB of 0\.3 MB$/mu);
  assert.doesNotMatch(pulled.stderr, /\r/u);
  const again = await patchbay(["pull", spec.name]);
  assert.equal(again.exitCode, 0);
  assert.equal(again.stdout, `demo-model: installed, 0.3 MB in ${models}\n`);
  assert.equal(download.ranges.length, 1);
});

test("local-models.resume: Ctrl-C ends a pull with 130, and the same command continues", async (t) => {
  let isFirst = true;
  const { patchbay, download, spec } = await openPlace(t, {}, (request, response, whole) => {
    if (!isFirst) return honest(request, response, whole);
    isFirst = false;
    response.writeHead(200, { "content-length": whole.length });
    response.write(whole.subarray(0, 1_000), () => setImmediate(() => process.emit("SIGINT")));
  });
  const stopped = await patchbay(["pull", spec.name, "--yes"]);
  assert.equal(stopped.exitCode, 130);
  assert.match(stopped.stderr, /What arrived is kept: the same command continues there\./u);
  assert.equal((await patchbay(["pull", spec.name, "--yes"])).exitCode, 0);
  assert.equal(download.ranges.length, 2);
});

test("local-models.pull: an unknown name is exit code 4, with the closest one", async (t) => {
  const { patchbay } = await openPlace(t, { manifest: MANIFEST });
  const unknown = await patchbay(["pull", "parakeet-110-en"]);
  assert.equal(unknown.exitCode, 4);
  assert.match(unknown.stderr, /did you mean parakeet-110m-en\?/u);
});

test("local-models.fetch-never, local-models.dir: pull is refused with exit code 9, import works and follows `models.dir`", async (t) => {
  const { patchbay, cwd, download, spec } = await openPlace(t);
  writeFileSync(join(cwd, "patchbay.yaml"), "models: { fetch: never, dir: elsewhere }\n");
  const refused = await patchbay(["pull", spec.name, "--yes"]);
  assert.equal(refused.exitCode, 9);
  assert.match(refused.stderr, /`models\.fetch` is `never`.*\n.*patchbay models import/u);
  assert.deepEqual(download.ranges, []);
  assert.match((await patchbay(["list"])).stderr, /Downloads are off/u);
  const imported = await patchbay(["import", ARCHIVE, "--yes"]);
  assert.equal(imported.exitCode, 0, imported.stderr);
  assert.match(imported.stderr, /licence +CC-BY-4\.0/u);
  assert.deepEqual(readdirSync(join(cwd, "elsewhere/demo-model")).toSorted(), [
    "installed.json",
    "model.onnx",
    "tokens.txt",
  ]);
});

test("local-models.dir: what root installs belongs to the owner of the directory above", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root can change an owner");
  const { patchbay, cwd, models, spec } = await openPlace(t);
  mkdirSync(join(cwd, "data"));
  chownSync(join(cwd, "data"), 65_534, 65_534);
  await patchbay(["pull", spec.name, "--yes"]);
  for (const path of [".", "demo-model", "demo-model/model.onnx", "demo-model/installed.json"])
    assert.equal(statSync(join(models, path)).uid, 65_534, path);
});

test("local-models.import: without an option nothing is installed, and a medium without models is exit code 4", async (t) => {
  const { patchbay, cwd } = await openPlace(t);
  assert.equal((await patchbay(["import", ARCHIVE])).exitCode, 2);
  assert.deepEqual(readdirSync(join(cwd, "data/models")), []);
  const nothing = await patchbay(["import", ".", "--yes"]);
  assert.equal(nothing.exitCode, 4);
  assert.match(nothing.stderr, /contains no model that this version knows/u);
});

test("local-models.verify: intact models are exit code 0, a flipped byte is 1 with the file's name", async (t) => {
  const { patchbay, spec, models } = await openPlace(t);
  assert.match((await patchbay(["verify"])).stderr, /No model is installed/u);
  await patchbay(["import", ARCHIVE, "--yes"]);
  const intact = await patchbay(["verify"]);
  assert.deepEqual([intact.exitCode, intact.stdout], [0, "demo-model: ok\n"]);
  const path = join(models, "demo-model/model.onnx");
  const bytes = readFileSync(path);
  bytes[5] = (bytes[5] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const differs = await patchbay(["verify", spec.name]);
  assert.deepEqual([differs.exitCode, differs.stdout], [1, "demo-model: differs\n"]);
  assert.match(differs.stderr, /model\.onnx has the SHA-256 .*\n.*patchbay models pull demo-model/u);
  const { data } = JSON.parse((await patchbay(["verify", "--json"])).stdout);
  assert.equal(data[0].ok, false);
  assert.equal((await patchbay(["verify", "other"])).exitCode, 4);
});

test("local-models.verify: an intact model is tried, and what it does not recognise is reported", async (t) => {
  const { patchbay } = await openPlace(t, { tryModel: async ({ name }) => `${name} did not recognise the sample` });
  await patchbay(["import", ARCHIVE, "--yes"]);
  const failed = await patchbay(["verify"]);
  assert.deepEqual([failed.exitCode, failed.stdout], [1, "demo-model: differs\n"]);
  assert.match(failed.stderr, /demo-model did not recognise the sample/u);
});

test("local-models.dir: models in the data directory do not keep a backup from being restored, and a purge removes them", async (t) => {
  const { patchbay, cwd, models } = await openPlace(t);
  await patchbay(["import", ARCHIVE, "--yes"]);
  writeFileSync(join(cwd, "not-a-backup.tar"), "nothing");
  const restored = await run(["restore", "not-a-backup.tar"], { cwd });
  assert.match(restored.stderr, /is not a complete backup/u);
  assert.ok(readdirSync(models).includes("demo-model"));
  const purged = await run(["down", "--purge", "--yes"], { cwd });
  assert.equal(purged.exitCode, 0, purged.stderr);
  assert.equal(purged.stdout, `${models}\n`);
  assert.ok(!existsSync(models));
});

test("local-models.rm: removes after a confirmation, and an unknown name is exit code 4", async (t) => {
  const { patchbay, spec, models } = await openPlace(t);
  await patchbay(["import", ARCHIVE, "--yes"]);
  assert.equal((await patchbay(["rm", spec.name])).exitCode, 2);
  assert.deepEqual(JSON.parse((await patchbay(["rm", spec.name, "--yes", "--json"])).stdout), {
    object: "local_model",
    name: "demo-model",
    deleted: true,
  });
  assert.ok(!readdirSync(models).includes("demo-model"));
  for (const name of [spec.name, "../..", ".locks"]) assert.equal((await patchbay(["rm", name, "--yes"])).exitCode, 4);
});

test("local-models.proxy: the variables are read as curl reads them, and what is no proxy is refused", () => {
  assert.deepEqual(proxySettings({}), { https: "", noProxy: "" });
  assert.deepEqual(proxySettings({ HTTPS_PROXY: "http://a:1", https_proxy: "b:2", NO_PROXY: "c" }), {
    https: "http://b:2",
    noProxy: "c",
  });
  for (const https of ["http://", "socks5://a:1", "http://a:b"])
    assert.throws(() => openDownloads({ https, noProxy: "" }), /HTTPS_PROXY is not the address of an HTTP proxy/u);
});

test("local-models.proxy: a download goes through the proxy of HTTPS_PROXY, except to hosts of NO_PROXY", async (t) => {
  const tunnels: string[] = [];
  const proxy = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (head: Buffer) => {
      const target = /^CONNECT ([\w.]+):(\d+) /u.exec(head.toString("latin1"));
      tunnels.push(target?.[2] ?? "");
      const onward = connect(Number(target?.[2]), target?.[1] ?? "", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        socket.pipe(onward).pipe(socket);
      });
      onward.on("error", () => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.after(() => proxy.close());
  const address = proxy.address();
  const https = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  for (const noProxy of ["", "127.0.0.1"]) {
    const openDownloads = async () =>
      createOutbound({ connect: { ca: TLS.ca, servername: TLS.host }, proxy: { https, noProxy } });
    const { patchbay, download, spec } = await openPlace(t, { openDownloads });
    const pulled = await patchbay(["pull", spec.name, "--yes"]);
    assert.equal(pulled.exitCode, 0, pulled.stderr);
    assert.equal(tunnels.includes(download.host.split(":")[1] ?? ""), noProxy === "");
  }
});

test("cli.up-pull: `up --pull` downloads the default model once its licence is accepted, and then starts; otherwise nothing starts", async (t) => {
  const { cwd, models, download, spec } = await openPlace(t);
  const started: unknown[] = [];
  const up = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(["up", ...argv], {
      cwd,
      env,
      models: {
        openDownloads: async () => testOutbound(t),
        manifest: [{ ...spec, name: DEFAULT_MODEL }],
        hosts: [download.host],
      },
      up: async (options) => {
        started.push(options);
        return 0;
      },
    });
  const refused = await up(["--pull"]);
  assert.equal(refused.exitCode, 2);
  assert.match(refused.stderr, /licence +CC-BY-4\.0.*\n[\s\S]*--accept-licence/u);
  assert.deepEqual([started.length, download.ranges.length], [0, 0]);
  const worker = await up(["--pull"], { [PROCESS_NUMBER]: "2" });
  assert.deepEqual([worker.exitCode, started.length, download.ranges.length], [0, 1, 0], "its parent has pulled");
  const accepted = await up(["--pull", "--accept-licence", "--port", "9000"]);
  assert.equal(accepted.exitCode, 0, accepted.stderr);
  assert.deepEqual([started.length, download.ranges.length], [2, 1]);
  assert.ok(existsSync(join(models, DEFAULT_MODEL, "installed.json")));
  await up(["--pull"]);
  assert.deepEqual([started.length, download.ranges.length], [3, 1], "an installed model is not downloaded again");
});
