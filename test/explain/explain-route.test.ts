// What is on record of a real request is what `patchbay route explain` says of the same input, over random routes (contract 3, 10).
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { createDecoder } from "../../src/audio/decode/decoder.ts";
import { createMeasurer } from "../../src/audio/measure.ts";
import { hashKey } from "../../src/auth/key-format.ts";
import { chatFields } from "../../src/contract/chat.ts";
import { translationFields } from "../../src/contract/transcription.ts";
import { findKey } from "../../src/directory/find-key.ts";
import { loadDirectory } from "../../src/directory/load-directory.ts";
import { explainRoute } from "../../src/gateway/explain-route.ts";
import { createCircuits } from "../../src/providers/health.ts";
import { chatProviders } from "../../src/providers/registry.ts";
import { createSeal } from "../../src/storage/seal.ts";
import { fixture } from "../audio/build-audio.ts";
import { HELLO, postChat } from "../harness/chat-client.ts";
import { type Answer, postForm } from "../harness/client.ts";
import { ENCRYPTION_KEY, PEPPER, startGateway, type TestGateway } from "../harness/gateway.ts";
import { makeInstallation } from "../operations/installation.ts";
import { type RandomApp, type RandomRequest, randomSetUp } from "./random-set-up.ts";

/** The recordings that requests name. */
const AUDIO = join(import.meta.dirname, "..", "fixtures", "audio");
const SEED = randomInt(2 ** 31);
const APPS = 10;
const REQUESTS_EACH = 6;

interface Asked {
  readonly app: RandomApp;
  readonly request: RandomRequest;
  readonly id: string;
}

async function send({ origin }: TestGateway, { secret: key }: RandomApp, request: RandomRequest): Promise<Answer> {
  const { task, fields, file } = request;
  if (task === "chat") return postChat(origin, { messages: HELLO, ...fields }, { key });
  const form = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === "object" ? value : String(value)]),
  );
  const path = task === "translate" ? "/v1/translation" : "/v1/transcription";
  return postForm(origin, { path, key, file: fixture(file), fields: form });
}

async function askAll(gateway: TestGateway, apps: readonly RandomApp[]): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const app of apps)
    for (const request of app.requests) {
      const answer = await send(gateway, app, request);
      asked.push({ app, request, id: answer.headers.get("x-request-id") ?? "" });
    }
  return asked;
}

async function traceOf({ app, database }: TestGateway, id: string): Promise<unknown> {
  for (;;) {
    await app.requestLog.flush();
    const row = await database.db
      .selectFrom("requests")
      .select(["asked", "purpose", "route", "refusal", "candidates"])
      .where("id", "=", id)
      .executeTakeFirst();
    if (row !== undefined) return { ...row };
    await turn();
  }
}

test("contract 3, 10: over random routes the record of each request equals the explanation of its input", async (t) => {
  const setUp = randomSetUp(SEED, APPS, REQUESTS_EACH);
  const gateway = await startGateway({ file: setUp.file });
  const measurer = createMeasurer();
  try {
    const asked = await askAll(gateway, setUp.apps);
    const { database } = gateway;
    const directory = await loadDirectory({ database, seal: createSeal({ keys: [ENCRYPTION_KEY] }) });
    const services = {
      directory: () => directory,
      decoder: createDecoder({ ffmpeg: null, directory: gateway.dataDir }),
      circuits: createCircuits(Date.now),
      chatProviders,
    };
    const outcomes = new Map<string, number>();
    for (const { app, request, id } of asked) {
      const recorded = await traceOf(gateway, id);
      const principal = await findKey(database, hashKey(PEPPER, app.secret), false);
      assert(principal !== null);
      const bytes = fixture(request.file);
      const measured = await measurer.measure({ kind: "bytes", bytes });
      assert(measured.ok);
      const explained =
        request.task === "chat"
          ? explainRoute(services, {
              kind: "chat",
              principal,
              fields: chatFields.parse({ messages: HELLO, ...request.fields }),
            })
          : explainRoute(services, {
              kind: "audio",
              principal,
              task: request.task,
              fields: translationFields.parse(request.fields),
              audio: { ...measured, sizeBytes: bytes.length },
            });
      // As JSON keeps it.
      assert.deepEqual(
        recorded,
        JSON.parse(JSON.stringify(explained)),
        `seed ${SEED}: ${app.id} ${JSON.stringify(request)}`,
      );
      const outcome = explained.refusal ?? "routed";
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    t.diagnostic(
      `seed ${SEED}, ${asked.length} requests: ${[...outcomes].map(([name, count]) => `${count} ${name}`).join(", ")}`,
    );
    // Not all alike, or nothing was shown.
    assert(outcomes.size >= 2 && outcomes.has("routed"), `seed ${SEED}: only ${[...outcomes.keys()].join(", ")}`);
  } finally {
    await measurer.close();
    await gateway.close();
  }
});

test("contract 3, 10: and equals what a fresh process prints, also when it is asked for the request itself", async () => {
  const setUp = randomSetUp(SEED + 7, 4, 2);
  const installation = await makeInstallation();
  try {
    const gateway = await installation.start({ file: setUp.file });
    const asked = await askAll(gateway, setUp.apps);
    const recorded = new Map<string, unknown>();
    for (const { id } of asked) recorded.set(id, await traceOf(gateway, id));
    const busy = await installation.patchbay("route", "explain", "--app", "acme/app0");
    assert.equal(busy.exitCode, 5, "beside a running gateway on embedded storage");
    assert.match(busy.stderr, /dry_run/u);
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
      const about = `seed ${SEED + 7}: ${app.id} ${JSON.stringify(request)}`;
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
