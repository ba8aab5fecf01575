// Test keys: every target is replaced by the sandbox, which speaks that target's wire format. The connections here name addresses where
// nothing listens, so whatever is answered cannot have come from them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { generateKey } from "../../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { WorkspaceId } from "../../../src/contract/ids.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { envelopeOf, postForm, speech } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";

const TEST_KEY = generateKey("test");
const NOWHERE = "http://127.0.0.1:9";
type Kind = NonNullable<ConfigurationFile["connections"]>[number]["kind"];
type Settings = Readonly<Record<string, unknown>>;

/** Of a compatible server each dialect has its own wire; chirp_3 has word times through its bucket alone. */
const TARGETS: readonly (readonly [kind: Kind, model: string, settings?: Settings])[] = [
  ["assemblyai", "universal-2"],
  ["deepgram", "nova-3"],
  ["elevenlabs", "scribe_v2"],
  ["gemini", "gemini-3.5-transcribe"],
  ["google-speech", "chirp_2"],
  ["google-speech", "chirp_3", { bucket: "acme-audio", project: "acme-1" }],
  ["openai", "whisper-1"],
  ...["groq", "mistral", "speaches", "whisper-cpp"].map(
    (dialect) => ["openai-compatible", "any", { dialect }] as const,
  ),
];
const placeOf = ([kind, model, settings]: (typeof TARGETS)[number]): string =>
  [kind, model, ...Object.values(settings ?? {})].join("-").replaceAll(".", "-");

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());

for (const place of TARGETS) {
  const [kind, model] = place;
  test(`keys.test-mode, transcription.simulated: a test key on ${placeOf(place)} is answered by the sandbox, for nothing, and the answer is marked`, async () => {
    const answer = await postForm(gateway.origin, {
      key: TEST_KEY,
      file: speech(),
      fields: { purpose: placeOf(place), timestamps: "word" },
    });
    const envelope = envelopeOf(answer);
    assert.match(envelope.content, /^\[simulated transcript, 7\.4 s, mono\]$/);
    assert.ok(envelope.words.length > 0);
    assert.equal(answer.headers.get("x-svc-simulated"), "true");
    assert.ok(envelope.warnings.some(({ code }) => code === "SIMULATED_PROVIDER"));
    assert.equal(envelope.usage.billable_audio_seconds, 0);
    const requestId = answer.headers.get("x-request-id") ?? "";
    const [attempt] = await attemptRows(gateway, answer);
    assert.deepEqual([attempt?.billing_class, attempt?.charge_nano_usd], ["simulated", 0n]);
    const keeps = kind === "assemblyai" || kind === "elevenlabs" || model === "chirp_3";
    const state = () => gateway.app.gateway.deletions.state(attempt?.workspace_id as WorkspaceId, requestId);
    await until(async () => (await state()) !== "pending");
    assert.equal(await state(), keeps ? "done" : "none", "what the sandbox keeps is deleted there as well");
  });
}

const DECLARED = { capabilities: ["audio_input" as const], features: { timestamps: ["word" as const] } };

function fileOf(): ConfigurationFile {
  return {
    connections: [...new Set(TARGETS.map(([kind]) => kind))].map((kind) => ({
      id: kind,
      kind,
      api_key: `${kind}-secret`,
      base_url: NOWHERE,
      ...(kind === "openai-compatible" ? { models: { any: DECLARED } } : {}),
    })),
    routes: TARGETS.map((place) => {
      const [kind, model, settings = {}] = place;
      return { id: placeOf(place), targets: [{ connection: kind, model, settings }] };
    }),
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "deepgram-nova-3",
            purposes: TARGETS.map((place) => ({ purpose: placeOf(place), route: placeOf(place) })),
            keys: [{ id: "test", secret: TEST_KEY, scopes: ["transcribe"] }],
          },
        ],
      },
    ],
  };
}
