// A start without a configuration file, with each provider's key in the environment: the first model of each route is current and named, and the
// provider is sent nothing.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { defaultFile, NO_LOCAL_SPEECH } from "../../src/config/default-configuration.ts";
import { knownLife } from "../../src/config/known-models.ts";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import { lifeStatus } from "../../src/providers/life-status.ts";
import { chatProviders, providers } from "../../src/providers/registry.ts";
import { firstStart } from "../../src/start/first-start.ts";
import { selfCheck } from "../../src/start/self-check.ts";
import { routeLines } from "../../src/start/route-lines.ts";
import { MODEL_DAY, PEPPER, startGateway } from "../harness/gateway.ts";
import { openTestDatabase } from "../harness/postgres/database.ts";
import { httpServer } from "../outbound/loopback.ts";
import { ENCRYPTION_KEY as UP_ENCRYPTION_KEY, PEPPER as UP_PEPPER, startWithoutFile, stopCommand } from "./commands.ts";

const NOW_MS = Date.parse(MODEL_DAY);
/** The day after the last date of the catalogue: whatever has been announced has happened. */
const AFTER_ALL_MS = Math.max(...announcedDays().map((day) => Date.parse(day))) + 86_400_000;

function announcedDays(): readonly string[] {
  const models = [...providers.values(), ...chatProviders.values()].flatMap((provider) =>
    Object.values(provider.models),
  );
  return models.flatMap(({ life }) => [life?.endsOn?.date, life?.redirect?.date].filter((day) => day !== undefined));
}

for (const [variable, first] of [
  ["DEEPGRAM_API_KEY", { speech: "deepgram nova-3" }],
  ["ASSEMBLYAI_API_KEY", { speech: "assemblyai assemblyai-stt-3-7" }],
  ["ELEVENLABS_API_KEY", { speech: "elevenlabs scribe_v2" }],
  ["OPENAI_API_KEY", { speech: "openai gpt-transcribe", chat: "openai gpt-6-luna" }],
  ["GEMINI_API_KEY", { speech: "gemini gemini-3.5-transcribe", chat: "gemini gemini-3.8-flash" }],
  ["ANTHROPIC_API_KEY", { speech: "sandbox simulated-speech", chat: "anthropic claude-haiku-5-5" }],
  ["PATCHBAY_LOCAL_STT_URL", { speech: "local whisper-1" }],
] as const) {
  test(`configuration.default-models: with ${variable} the first models are current today and after every announced date, the start names them, and the provider is sent nothing`, async (t) => {
    const received: string[] = [];
    const provider = await httpServer(t, async (request, response) => {
      received.push(`${request.method} ${request.url}`);
      response.writeHead(500).end();
    });
    const env = { [variable]: variable.endsWith("_URL") ? provider.origin : "a-credential-of-the-provider-01" };
    const loaded = loadConfiguration({ file: null, env, cwd: import.meta.dirname });
    assert.ok(loaded.ok);
    const { configuration } = loaded;
    const kinds = new Map(configuration.connections.map(({ id, kind }) => [id, kind]));
    for (const { id, targets } of configuration.routes) {
      const [target] = targets;
      const kind = kinds.get(target?.connection ?? "");
      assert.ok(target !== undefined && kind !== undefined);
      const life = knownLife(kind, target.model);
      assert.ok(life !== undefined || kind === "sandbox" || kind === "openai-compatible", target.model);
      if (life === undefined) continue;
      for (const atMs of [NOW_MS, AFTER_ALL_MS])
        assert.equal(lifeStatus(life, atMs).status, "current", `${id}: ${target.model}`);
    }
    const lines = routeLines(configuration, NOW_MS);
    assert.deepEqual(
      Object.fromEntries(lines.map((line) => [line.split(" ")[0], /^\S+ +([^,]+)/u.exec(line)?.[1]])),
      first,
    );

    const { data } = defaultFile(env, NO_LOCAL_SPEECH);
    const connections = (data.connections ?? []).map((each) =>
      each.kind === "sandbox" ? each : { ...each, base_url: provider.origin },
    );
    const gateway = await startGateway({ file: () => ({ ...data, connections }) });
    t.after(() => gateway.close());
    const { database, dataDir, origin } = gateway;
    const started = await firstStart({ database, pepper: PEPPER, dataDir, isEmbedded: false, isBootstrapped: true });
    assert.ok(started.appKeys !== null);
    const { by, result } = await selfCheck(origin, started.samplePath, started.appKeys);
    assert.match(by, /simulated/u);
    assert.match(result, / measured\)$/u);
    assert.deepEqual(received, []);
  });
}

test("configuration.default-models: what such a start prints names the models", async (t) => {
  const database = await openTestDatabase();
  t.after(() => database.close());
  const folder = await mkdtemp(join(tmpdir(), "patchbay-default-models-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const env = {
    DATABASE_URL: database.direct.databaseUrl,
    PATCHBAY_KEY_PEPPER: UP_PEPPER,
    PATCHBAY_ENCRYPTION_KEY: UP_ENCRYPTION_KEY,
    DEEPGRAM_API_KEY: "a-credential-of-the-provider-01",
  };
  const gateway = startWithoutFile(folder, env, "up", "--port", "0", "--admin-port", "0");
  assert.equal(
    await gateway.said(/Models, in the order in which they are tried:\n {2}speech +(\S+ \S+)\n/u),
    "deepgram nova-3",
  );
  await stopCommand(gateway);
});

test("configuration.default-models: models that end are marked with the days that are left", () => {
  const loaded = loadConfiguration({ file: null, env: { OPENAI_API_KEY: "o" }, cwd: import.meta.dirname });
  assert.ok(loaded.ok);
  assert.deepEqual(routeLines(loaded.configuration, NOW_MS), [
    "speech       openai gpt-transcribe, then openai gpt-4o-transcribe-diarize (ends in 92 days), then openai whisper-1 (ends in 92 days)",
    "chat         openai gpt-6-luna",
  ]);
});
