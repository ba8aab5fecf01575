// The record of a real request equals the answer of a separate process to the same input (`patchbay route explain`).
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { routeTrace } from "../../src/contract/admin/route-explanation.ts";
import { HELLO } from "../harness/chat-client.ts";
import { startFlags } from "../harness/node-flags.ts";
import { pauseIn } from "../harness/pause.ts";
import { configurationOf, type TestGateway } from "../harness/gateway.ts";
import { OPERATOR_KEY } from "../http/admin/admin.ts";
import { PLATFORM, revise } from "../http/admin/set-up.ts";
import { type Installation, makeInstallation } from "../operations/installation.ts";
import { type Asked, askAll, traceOf } from "./asked.ts";
import { type RandomRequest, randomSetUp } from "./random-set-up.ts";

/** The recordings that requests name. */
const AUDIO = join(import.meta.dirname, "..", "fixtures", "audio");
const SEED = randomInt(2 ** 31);

test("routing.explain-equals-request: a new process prints the same, with a running gateway and without one, also when it is asked about the request itself", async () => {
  const setUp = randomSetUp(SEED, 4, 2);
  const installation = await makeInstallation();
  try {
    const file = (sandbox: Sandbox): ConfigurationFile => ({
      ...setUp.file(sandbox),
      operator_keys: [{ id: "root", secret: OPERATOR_KEY }],
    });
    const gateway = await installation.start({ file });
    // In every route that has it: the explanation later must know of the pause too.
    await pauseIn(gateway, "oa");
    const asked = await askAll(gateway, setUp.apps);
    const recorded = new Map<string, unknown>();
    for (const { id } of asked) recorded.set(id, await traceOf(gateway, id));
    const inputs = await Promise.all(asked.map((each) => inputOf(installation.dataDir, each)));
    const [first] = asked;
    assert(first !== undefined);
    // While a gateway runs on embedded storage, the command asks it instead.
    const existing = async (...input: readonly string[]): Promise<unknown> => {
      const { exitCode, stdout, stderr } = await installation.patchbay("route", "explain", ...input, "--json");
      assert.equal(exitCode, 0, stderr);
      return JSON.parse(stdout) as unknown;
    };
    await write(installation, gateway, file);
    for (const [index, { id, app, request }] of asked.entries())
      assert.deepEqual(
        await existing(...(inputs[index] ?? [])),
        recorded.get(id),
        `seed ${SEED}: ${app.id} ${JSON.stringify(request)}`,
      );
    const { calls, ...decision } = routeTrace.parse(await existing("--request", first.id));
    assert.deepEqual(decision, recorded.get(first.id));
    await gateway.database.db.updateTable("routes").set({ managed_by: "api" }).execute();
    for (const { id, ...definition } of randomSetUp(SEED + 1, 1, 1).file(gateway.sandbox).routes ?? [])
      await revise(gateway, PLATFORM, id, definition);
    const versions = ["draft", "1"].map((version) => [
      "--app",
      "acme/app0",
      "--route",
      "r1",
      "--route-version",
      version,
    ]);
    const byVersion = [];
    for (const version of versions) byVersion.push(await existing(...version));
    await gateway.close();
    assert.deepEqual(await freshProcess(installation.dataDir, EXPLAINER, ...versions), byVersion);
    const printed = [
      ...(await freshProcess(installation.dataDir, EXPLAINER, ...inputs)),
      // As an operator types it.
      ...(await freshProcess(installation.dataDir, MAIN, ["--request", first.id])),
    ];
    const expected = [...asked, first];
    assert.equal(printed.length, expected.length);
    for (const [index, { app, request, id }] of expected.entries()) {
      const about = `seed ${SEED}: ${app.id} ${JSON.stringify(request)}`;
      const ofRequest = index === asked.length ? { calls } : {};
      assert.deepEqual(printed[index], { ...(recorded.get(id) as object), ...ofRequest }, about);
    }
  } finally {
    await installation.close();
  }
});

/** The file as the gateway was started with, and where it listens since. */
async function write(
  { dataDir, sandbox }: Installation,
  { origin, adminOrigin }: TestGateway,
  file: (sandbox: Sandbox) => ConfigurationFile,
): Promise<void> {
  const at = (url: string) => ({ host: "127.0.0.1", port: Number(new URL(url).port) });
  await configurationOf({ ...file(sandbox), server: { ...at(origin), admin: at(adminOrigin) } }, dataDir);
}

/** What the command line is given for the same. */
async function inputOf(directory: string, { app, request, id }: Asked): Promise<readonly string[]> {
  const given =
    request.task === "chat"
      ? ["--chat", await chatFile(join(directory, `${id}.json`), request)]
      : [join(AUDIO, request.file), ...(request.task === "translate" ? ["--translate"] : []), ...flags(request)];
  return [...given, "--api-key", app.secret];
}

async function chatFile(path: string, { fields }: RandomRequest): Promise<string> {
  await writeFile(path, JSON.stringify({ messages: HELLO, ...fields }));
  return path;
}

function flags({ fields }: RandomRequest): readonly string[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const name = field === "keyterms" ? "keyterm" : field.replaceAll("_", "-");
    if (typeof value === "boolean") return [value ? `--${name}` : `--no-${name}`];
    if (field === "keyterms" && typeof value === "object") return value.flatMap((term) => [`--${name}`, term]);
    return [`--${name}`, typeof value === "object" ? value.join(",") : String(value)];
  });
}

const MAIN = join(import.meta.dirname, "..", "..", "src", "main.ts");
const EXPLAINER = join(import.meta.dirname, "fresh-explainer.ts");

/** What it prints for each input: the program itself takes one, `EXPLAINER` any number. */
async function freshProcess(
  dataDir: string,
  program: string,
  ...inputs: readonly (readonly string[])[]
): Promise<readonly unknown[]> {
  const config = ["--config", join(dataDir, "patchbay.yaml"), "--json"];
  const commands = inputs.map((input) => ["route", "explain", ...input, ...config]);
  const args = [...startFlags(), program, ...(program === MAIN ? commands.flat() : [])];
  const running = promisify(execFile)(process.execPath, args, {
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
    cwd: dataDir,
  });
  running.child.stdin?.end(JSON.stringify(commands));
  const { stdout } = await running;
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}
