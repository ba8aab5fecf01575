// A start without a configuration file where a model on this machine can recognise speech: the real engine, with the model of the tests in place of the default
// one, and with the demonstration model of the package.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { z } from "zod";
import { packageRoot, samplePath } from "../../src/cli/package-root.ts";
import { defaultFile, type LocalSpeech, NO_LOCAL_SPEECH } from "../../src/config/default-configuration.ts";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import { DEFAULT_MODEL } from "../../src/local-models/manifest.ts";
import {
  BY_DEMONSTRATION,
  DEMONSTRATION,
  DEMONSTRATION_NOTICE,
  DEMONSTRATION_WORDS,
} from "../../src/providers/local/demonstration.ts";
import { isEngineInstalled } from "../../src/providers/local/engine/engine-installed.ts";
import { describeLocalSpeech, localModelNote } from "../../src/start/local-speech.ts";
import { envelopeOf, postForm } from "../harness/client.ts";
import { installWords, speak, wavOf } from "../harness/local-model.ts";
import { openTestDatabase } from "../harness/postgres/database.ts";
import { SAMPLE_TEXT, SAMPLE_TURNS } from "../harness/sample-text.ts";
import { until } from "../harness/until.ts";
import { ENCRYPTION_KEY, PEPPER, startWithoutFile, stopCommand } from "./commands.ts";
import { WITH_ENGINE } from "../providers/local/engines.ts";

const routeSchema = z.object({
  definition: z.object({ targets: z.array(z.object({ connection: z.string(), model: z.string() })) }),
});
const SAID = SAMPLE_TEXT.toLowerCase().replace(/[.,?]/gu, "");
const FACTS = { modelsDir: "/nowhere", hasEngine: true, hasDemonstration: true };
const INSTALLED: LocalSpeech = { ...NO_LOCAL_SPEECH, installed: [DEFAULT_MODEL] };

const speechOf = (env: Readonly<Record<string, string>>, local: LocalSpeech) => {
  const { data, notes } = defaultFile(env, local);
  const targets = data.routes?.find(({ id }) => id === "speech")?.targets ?? [];
  return {
    targets: targets.map((each) => (typeof each === "string" ? each : `${each.connection}/${each.model}`)),
    notes,
  };
};

test("configuration.default-local: the speech route without a provider's key has the installed models and no sandbox, and behind a provider they are last", () => {
  assert.deepEqual(speechOf({}, INSTALLED).targets, [`here/${DEFAULT_MODEL}`]);
  assert.match(speechOf({}, INSTALLED).notes.join("\n"), /recognised on this machine, by parakeet-110m-en\./u);
  assert.deepEqual(speechOf({ DEEPGRAM_API_KEY: "k" }, INSTALLED).targets, [
    "deepgram/nova-3",
    `here/${DEFAULT_MODEL}`,
  ]);
  assert.deepEqual(speechOf({ DEEPGRAM_API_KEY: "k" }, describeLocalSpeech(FACTS)).targets, ["deepgram/nova-3"]);
  for (const env of [{}, { ANTHROPIC_API_KEY: "k" }])
    assert.ok(loadConfiguration({ file: null, env, cwd: "/", readLocalSpeech: () => INSTALLED }).ok);
});

test("configuration.default-local: the default model is first, the others follow as the manifest lists them", async (t) => {
  const modelsDir = await folderOf(t);
  for (const name of ["moonshine-tiny-en", "parakeet-0.6b-v3", DEFAULT_MODEL]) installWords(modelsDir, { name });
  assert.deepEqual(describeLocalSpeech({ ...FACTS, modelsDir }).installed, [
    DEFAULT_MODEL,
    "moonshine-tiny-en",
    "parakeet-0.6b-v3",
  ]);
});

test("configuration.default-sandbox, configuration.default-demonstration: without a model the sandbox is last, and what is printed names the command that changes it", () => {
  const said = (facts: Partial<typeof FACTS>) => describeLocalSpeech({ ...FACTS, ...facts }).note;
  const { targets } = speechOf({}, describeLocalSpeech(FACTS));
  assert.deepEqual(targets.slice(0, 3), [`here/${DEFAULT_MODEL}`, `here/${DEMONSTRATION}`, "sandbox/simulated-speech"]);
  assert.match(said({}), /knows \d+ words.*patchbay models pull parakeet-110m-en`, 104 MB$/u);
  assert.equal(localModelNote("/nowhere", DEFAULT_MODEL), "not installed");
  assert.equal(localModelNote("/nowhere", DEMONSTRATION), "bundled sample only");
  assert.match(said({ hasDemonstration: false }), /simulated text\. For real text .*104 MB$/u);
  assert.match(said({ hasEngine: false }), /npm install sherpa-onnx-node@1\.13\.8, then `patchbay models pull/u);
  assert.deepEqual(
    speechOf({}, describeLocalSpeech({ ...FACTS, hasEngine: false })).targets[0],
    "sandbox/simulated-speech",
  );
});

test(
  "configuration.default-local, configuration.self-check: an installed model serves a start without a file, and its self-check is real",
  WITH_ENGINE,
  async (t) => {
    const { folder, start } = await installation(t);
    installWords(join(folder, "data", "models"), { name: DEFAULT_MODEL });
    const gateway = start();
    await gateway.said(/Self-check: (bundled sample recognised on this machine by parakeet-110m-en):/u);
    const transcribe = await clientOf(gateway, folder);
    const envelope = await transcribe(wavOf(speak("hello", "doctor", "seven").samples));
    assert.deepEqual([envelope.content, envelope.warnings], ["hello doctor seven", []]);
    await stopCommand(gateway);
  },
);

test(
  "configuration.default-local, local.first-start: any model that is installed while the gateway runs serves without a restart, and one that is removed leaves",
  WITH_ENGINE,
  async (t) => {
    const { folder, start } = await installation(t);
    const gateway = start();
    const file = wavOf(speak("hello", "doctor", "seven").samples);
    const transcribe = await clientOf(gateway, folder);
    assert.match((await transcribe(file)).content, /^\[simulated transcript/u);
    const { dir } = installWords(join(folder, "data", "models"), { name: "moonshine-tiny-en" });
    await until(async () => (await transcribe(file)).content === "hello doctor seven");
    await rm(dir, { recursive: true });
    // Until the routes are derived again the model fails, because its files are gone.
    await until(async () => {
      const answer = await transcribe.raw(file);
      return answer.status === 200 && envelopeOf(answer).content.startsWith("[simulated transcript");
    });
    await stopCommand(gateway);
  },
);

test("configuration.default-own: a model that is installed while the gateway runs replaces neither a connection nor a route of the API", async (t) => {
  const { folder, start } = await installation(t, { DEEPGRAM_API_KEY: "k" });
  const gateway = start();
  const admin = (await gateway.said(/console {5}(\S+)\/console/u)).concat("/admin/v1");
  const key = (await readFile(join(folder, "data", "operator-key"), "utf8")).trim();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${admin}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return answer.json();
  };
  await call("POST", "/connections", { id: "here", kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1" });
  await call("POST", "/routes", { id: "chat", targets: [{ connection: "deepgram", model: "nova-3" }] });
  const [connection, route] = [await call("GET", "/connections/here"), await call("GET", "/routes/chat")];
  installWords(join(folder, "data", "models"), { name: DEFAULT_MODEL });
  const targets = async () => {
    const { definition } = routeSchema.parse(await call("GET", "/routes/speech"));
    return definition.targets.map((each) => `${each.connection}/${each.model}`);
  };
  await until(async () => (await targets()).length === 2);
  assert.deepEqual(await targets(), ["deepgram/nova-3", `here-2/${DEFAULT_MODEL}`]);
  assert.deepEqual(await call("GET", "/connections/here"), connection);
  assert.deepEqual(await call("GET", "/routes/chat"), route);
  await stopCommand(gateway);
});

test("configuration.default-demonstration: the number of words that is printed is that of the model's list", async () => {
  const list = await readFile(join(packageRoot(), "models/demonstration/words.txt"), "utf8");
  assert.equal(list.trim().split("\n").length, DEMONSTRATION_WORDS);
});

const hasDemonstration = existsSync(join(packageRoot(), "models/demonstration/manifest.json"));
const canDemonstrate = hasDemonstration && isEngineInstalled();

test("configuration.default-demonstration, transcription.demonstration: a first start recognises the bundled sample, and simulates what the model lacks", {
  skip: canDemonstrate ? false : "not run without models/demonstration and sherpa-onnx-node",
}, async (t) => {
  const { folder, start } = await installation(t);
  const gateway = start();
  assert.equal(await gateway.said(/Self-check: bundled sample recognised ([^\n]*):\n/u), BY_DEMONSTRATION);
  await gateway.said(new RegExp(`\\n {2}(${SAID}) \\(14`, "u"));
  const transcribe = await clientOf(gateway, folder);
  const sample = await readFile(samplePath());
  const plain = await transcribe(sample);
  assert.equal(plain.content, SAID);
  assert.deepEqual(
    plain.warnings.map(({ code, message }) => [code, message]),
    [["DEMONSTRATION_MODEL", DEMONSTRATION_NOTICE]],
  );
  const spoken = await transcribe(sample, { diarization: "true" });
  assert.equal(spoken.content, SAMPLE_TEXT);
  assert.equal(spoken.segments[0]?.speaker, SAMPLE_TURNS[0].speaker);
  assert.deepEqual(
    spoken.warnings.map(({ code }) => code),
    ["SIMULATED_PROVIDER"],
  );
  const other = await transcribe(wavOf(speak("hello").samples));
  assert.match(other.content, /^\[simulated transcript/u);
  await stopCommand(gateway);
});

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "patchbay-first-local-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function installation(t: TestContext, variables: Readonly<Record<string, string>> = {}) {
  const database = await openTestDatabase();
  t.after(() => database.close());
  const folder = await folderOf(t);
  await mkdir(join(folder, "data", "models"), { recursive: true });
  const env = {
    DATABASE_URL: database.direct.databaseUrl,
    PATCHBAY_KEY_PEPPER: PEPPER,
    PATCHBAY_ENCRYPTION_KEY: ENCRYPTION_KEY,
    ...variables,
  };
  return { folder, start: () => startWithoutFile(folder, env, "up", "--port", "0", "--admin-port", "0") };
}

async function clientOf(gateway: ReturnType<typeof startWithoutFile>, folder: string) {
  const origin = await gateway.said(/playground {2}(\S+)\/playground/u);
  const key = (await readFile(join(folder, "data", "cli-key"), "utf8")).trim();
  const raw = (file: Buffer, fields: Readonly<Record<string, string>> = {}) => postForm(origin, { key, file, fields });
  return Object.assign(async (...call: Parameters<typeof raw>) => envelopeOf(await raw(...call)), { raw });
}
