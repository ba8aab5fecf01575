// What is on record of a real request is what a process of its own says of the same input (contract 3, 10: `patchbay route explain`).
// Of embedded storage alone: an installation in a directory has no other.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { HELLO } from "../harness/chat-client.ts";
import { pauseIn } from "../harness/pause.ts";
import { makeInstallation } from "../operations/installation.ts";
import { type Asked, askAll, traceOf } from "./asked.ts";
import { type RandomRequest, randomSetUp } from "./random-set-up.ts";

/** The recordings that requests name. */
const AUDIO = join(import.meta.dirname, "..", "fixtures", "audio");
const SEED = randomInt(2 ** 31);

test("contract 3, 10: and equals what a fresh process prints, also when it is asked for the request itself", async () => {
  const setUp = randomSetUp(SEED, 4, 2);
  const installation = await makeInstallation();
  try {
    const gateway = await installation.start({ file: setUp.file });
    // Wherever a route has it: whoever asks later must know of it too.
    await pauseIn(gateway, "oa");
    const asked = await askAll(gateway, setUp.apps);
    const recorded = new Map<string, unknown>();
    for (const { id } of asked) recorded.set(id, await traceOf(gateway, id));
    const busy = await installation.patchbay("route", "explain", "--app", "acme/app0");
    assert.equal(busy.exitCode, 5, "beside a running gateway on embedded storage");
    assert.match(busy.stderr, /patchbay transcribe FILE --dry-run/u);
    await gateway.close();
    const inputs = await Promise.all(asked.map((each) => inputOf(installation.dataDir, each)));
    const [first] = asked;
    assert(first !== undefined);
    const printed = [
      ...(await freshProcess(installation.dataDir, EXPLAINER, ...inputs)),
      // As an operator types it.
      ...(await freshProcess(installation.dataDir, MAIN, ["--request", first.id])),
    ];
    const expected = [...asked, first];
    assert.equal(printed.length, expected.length);
    for (const [index, { app, request, id }] of expected.entries()) {
      const about = `seed ${SEED}: ${app.id} ${JSON.stringify(request)}`;
      assert.deepEqual(printed[index], { object: "route_trace", ...(recorded.get(id) as object) }, about);
    }
  } finally {
    await installation.close();
  }
});

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
  const running = promisify(execFile)(process.execPath, [program, ...(program === MAIN ? commands.flat() : [])], {
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
