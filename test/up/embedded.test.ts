// `patchbay up` and `patchbay worker` on embedded storage, as an operator starts them: first start, several processes, a worker, what is refused.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { EXIT } from "../../src/cli/exit-codes.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { ownerOf } from "../../src/storage/embedded/installation-lock.ts";
import { readPlacement } from "../../src/storage/embedded/placement.ts";
import { run } from "../cli/fake-gateway.ts";
import { fillDataDir, makeTemporary, postgresBin, removeDataDir } from "../harness/postgres/embedded-data.ts";
import { guardsOn, postmasterOf, processesOn, until } from "../storage/embedded/processes.ts";
import {
  answering,
  childrenOf,
  type Command,
  commandLine,
  configuration,
  endedJob,
  ENVIRONMENT,
  post,
  startCommand,
  stopCommand,
  transcribe,
  twoFreePorts,
  writeConfiguration,
} from "./commands.ts";

const LINUX = { skip: process.platform === "linux" ? false : "processes are listed in /proc" };
const LISTENING = /listening\s+(http:\S+)/u;
let folder: string;
before(async () => {
  folder = await makeTemporary("patchbay-up-");
});
after(() => removeDataDir(folder));

interface Place {
  /** The working directory, whose `data` is the data directory. */
  readonly cwd: string;
  readonly dataDir: string;
  readonly file: ConfigurationFile;
  readonly start: (...command: readonly string[]) => Promise<Command>;
}

async function place(adminPort = 0): Promise<Place> {
  const cwd = await mkdtemp(join(folder, "of-"));
  chmodSync(cwd, 0o711);
  const dataDir = join(cwd, "data");
  const file = configuration({ data_dir: dataDir, postgres_bin: await postgresBin() }, adminPort);
  return { cwd, dataDir, file, start: (...command) => startCommand(cwd, file, ...command) };
}

async function filled(adminPort = 0): Promise<Place> {
  const found = await place(adminPort);
  mkdirSync(found.dataDir, { mode: 0o700 });
  await fillDataDir(found.dataDir);
  return found;
}

test("configuration.start-report, storage.embedded-stops: a first start reports what takes time before it does it, serves, and stops its database with itself", async () => {
  const { dataDir, start } = await place();
  const gateway = await start("up");
  await gateway.said(/storage\s+(creating the embedded database \(first start only\))$/mu);
  const origin = await gateway.said(LISTENING);
  assert.equal(await transcribe(origin), 200);
  const { data } = await readPlacement(dataDir);
  await stopCommand(gateway);
  if (process.platform === "linux") assert.deepEqual(processesOn(data), []);
  assert.ok(!readdirSync(data).includes("postmaster.pid"), "a shutdown in good order");
  assert.ok(!readdirSync(dataDir).includes("first-start.json"));
  assert.equal(await ownerOf(dataDir), null);
});

test(
  "storage.embedded-shared, configuration.processes: several processes share the embedded database: both serve, one that is killed is replaced, a stop ends them and the server",
  LINUX,
  async () => {
    const adminPort = await twoFreePorts();
    const { dataDir, start } = await filled(adminPort);
    const gateway = await start("up", "--processes", "2");
    const origin = await gateway.said(LISTENING);
    const [first, second] = [adminPort, adminPort + 1].map((port) => `http://127.0.0.1:${port}/readyz`);
    assert.ok(first !== undefined && second !== undefined);
    await answering(first);
    await answering(second);
    assert.equal(await transcribe(origin), 200);
    const { data } = await readPlacement(dataDir);
    const postmaster = postmasterOf(data);
    const guards = new Set(guardsOn(data));
    const gateways = (await childrenOf(gateway.process)).filter((pid) => !guards.has(pid));
    assert.equal(gateways.length, 2);
    process.kill(gateways[1] ?? 0, "SIGKILL");
    await gateway.said(/process (2) ended/u);
    assert.equal(await transcribe(origin), 200);
    await answering(second);
    assert.equal(postmasterOf(data), postmaster, "the database outlives each of the gateways");
    await stopCommand(gateway);
    assert.deepEqual(processesOn(data), []);
  },
);

test(
  "configuration.processes: several processes in a terminal stop by `patchbay down`, whose signal reaches their parent alone",
  LINUX,
  async () => {
    const adminPort = await twoFreePorts();
    const { cwd, dataDir, file } = await filled(adminPort);
    const config = await writeConfiguration(cwd, file);
    const command = [process.execPath, ...commandLine(config, "up", "--processes", "2")].join(" ");
    const terminal = spawn("script", ["-qefc", command, "/dev/null"], { cwd, env: ENVIRONMENT, stdio: "ignore" });
    const ended = once(terminal, "exit");
    try {
      for (const port of [adminPort, adminPort + 1]) await answering(`http://127.0.0.1:${port}/readyz`);
      const down = await run(["down", "--json", "--config", config]);
      assert.notEqual((JSON.parse(down.stdout) as { readonly stopped: unknown }).stopped, null);
      assert.deepEqual(await ended, [EXIT.ok, null]);
      assert.equal(await ownerOf(dataDir), null);
    } finally {
      terminal.kill("SIGKILL");
    }
  },
);

test("storage.embedded-shared: a worker joins the gateway's embedded database, works on its jobs, and stops without stopping the database", async () => {
  const { start, dataDir } = await filled();
  const gateway = await start("up");
  const origin = await gateway.said(LISTENING);
  const worker = await start("worker");
  await worker.said(/(working)/u);
  const accepted = await post(origin, "/v1/transcription/jobs");
  assert.equal(accepted.status, 202);
  assert.equal((await endedJob(origin, (accepted.json as { readonly job_id: string }).job_id)).status, "succeeded");
  await stopCommand(worker);
  assert.equal(await transcribe(origin), 200);
  await stopCommand(gateway);
  assert.equal(await ownerOf(dataDir), null);
});

test("storage.one-owner, storage.down: a second gateway is refused with the holder's process, exit 5; the first runs until `patchbay down` stops it", async () => {
  const { start, cwd, dataDir } = await filled();
  const gateway = await start("up");
  const origin = await gateway.said(LISTENING);
  const second = await start("up");
  const said = await second.said(/error ([^]*)\n +stop that gateway first \(.* down\), /u);
  assert.match(said, new RegExp(`is in use by process ${gateway.process.pid} on host `, "u"));
  assert.deepEqual(await once(second.process, "exit"), [EXIT.conflict, null]);
  assert.equal(await transcribe(origin), 200);
  const ended = once(gateway.process, "exit");
  const down = await run(["down", "--json", "--config", join(cwd, "patchbay.yaml")]);
  assert.deepEqual(JSON.parse(down.stdout), { object: "down", stopped: gateway.process.pid, removed: [], left: [] });
  assert.deepEqual(await ended, [EXIT.ok, null]);
  assert.equal(await ownerOf(dataDir), null);
});

test(
  "storage.embedded-stops, jobs.accepted-durable: a gateway that is killed with SIGKILL leaves no server, and its accepted job ends after the next start",
  LINUX,
  async () => {
    const { start, dataDir } = await filled();
    const gateway = await start("up");
    const origin = await gateway.said(LISTENING);
    const accepted = await post(origin, "/v1/transcription/jobs");
    const { job_id: id } = accepted.json as { readonly job_id: string };
    gateway.process.kill("SIGKILL");
    const { data } = await readPlacement(dataDir);
    await until(() => processesOn(data).length === 0);
    const next = await start("up");
    await endedJob(await next.said(LISTENING), id);
    await stopCommand(next);
  },
);

test("storage.no-silent-database: secrets or objects without their database are refused with what to do, exit 9; --new-database creates one, with the same secrets", async () => {
  const { start, dataDir } = await place();
  mkdirSync(join(dataDir, "objects", "results"), { recursive: true, mode: 0o700 });
  const pepper = "a-pepper-of-an-installation-whose-database-is-gone";
  writeFileSync(join(dataDir, "key-pepper"), `${pepper}\n`, { mode: 0o600 });
  writeFileSync(join(dataDir, "objects", "results", "an-object"), "sealed");
  for (const command of [["up"], ["up", "--processes", "2"]]) {
    const refused = await start(...command);
    const said = await refused.said(/error ([^]*--new-database)/u);
    assert.match(
      said,
      /contains secrets and objects of an installation, but not its database\.\n[^]* restore FILE --force/u,
    );
    assert.deepEqual(await once(refused.process, "exit"), [EXIT.config, null]);
    assert.ok(!readdirSync(dataDir).includes("postgres"));
  }
  const insisted = await start("up", "--new-database");
  await insisted.said(LISTENING);
  await stopCommand(insisted);
  assert.equal(readFileSync(join(dataDir, "key-pepper"), "utf8"), `${pepper}\n`);
  const again = await start("up");
  await again.said(LISTENING);
  await stopCommand(again);
});

test("storage.former-version: a data directory of version 0.1.0 is refused with the command that moves it, exit 9", async () => {
  const { start, dataDir } = await place();
  mkdirSync(join(dataDir, "pglite"), { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, "pglite", "PG_VERSION"), "18\n");
  const refused = await start("up");
  const said = await refused.said(/error ([^]*--new-database)/u);
  assert.match(said, /the embedded database of version 0\.1\.0[^]*with version 0\.1\.0: [^\n]*migrate-storage --to/u);
  assert.deepEqual(await once(refused.process, "exit"), [EXIT.config, null]);
  assert.deepEqual(readdirSync(join(dataDir, "pglite")), ["PG_VERSION"]);
});
