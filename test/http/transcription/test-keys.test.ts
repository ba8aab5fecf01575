// Test keys (contract 2): every target is replaced by the sandbox speaking that target's wire format, whatever the provider;
// nothing leaves the machine, the real credential stays at home, and the answer says what it is.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { generateKey } from "../../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { type Answer, envelopeOf, postForm } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";

type Connection = NonNullable<ConfigurationFile["connections"]>[number];
type Target = NonNullable<ConfigurationFile["routes"]>[number]["targets"][number];

/** An address that answers nobody: a call that went there would fail. */
const NOWHERE = "http://127.0.0.1:1/v1";
const compatible = (id: string, dialect: string): Connection => ({
  id,
  kind: "openai-compatible",
  api_key: "real-secret",
  base_url: NOWHERE,
  models: { whisper: { capabilities: ["audio_input"], features: { timestamps: ["word", "segment"] }, dialect } },
});

/** Word times of chirp_3 come by a batch through the bucket. */
const BUCKET = { settings: { bucket: "acme-audio", project: "acme-1" } };

const PLACES: readonly (readonly [Connection, Omit<Target, "connection">])[] = [
  [{ id: "gm", kind: "gemini", api_key: "real-secret", base_url: NOWHERE }, { model: "gemini-3.5-transcribe" }],
  [
    { id: "go", kind: "google-speech", api_key: "real-secret" },
    { model: "chirp_3", ...BUCKET },
  ],
  [compatible("groq", "groq"), { model: "whisper" }],
  [compatible("mistral", "mistral"), { model: "whisper" }],
  [compatible("whisper-cpp", "whisper-cpp"), { model: "whisper" }],
];
const keys = new Map(PLACES.map(([{ id }]) => [id, generateKey("test")]));

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    file: () => ({
      connections: PLACES.map(([connection]) => connection),
      routes: PLACES.map(([{ id }, target]) => ({ id, targets: [{ connection: id, ...target }] })),
      workspaces: [
        {
          id: "acme",
          apps: PLACES.map(([{ id }]) => ({
            id,
            route: id,
            keys: [{ id, secret: keys.get(id) ?? "", scopes: ["transcribe"] }],
          })),
        },
      ],
    }),
  });
});
after(() => gateway.close());

const ask = (id: string, fields: Record<string, string>): Promise<Answer> =>
  postForm(gateway.origin, { key: keys.get(id) ?? "", fields });

for (const [{ id }] of PLACES) {
  test(`contract 2: a test key's ${id} target is played by the sandbox, times and all`, async () => {
    const answer = await ask(id, { timestamps: "word", response_format: "srt" });
    const envelope = envelopeOf(answer);
    assert.match(envelope.content, /simulated/u);
    assert.match(envelope.words.map(({ text }) => text).join(" "), /simulated/u);
    assert.equal(envelope.usage.billable_audio_seconds, 0);
    assert.equal(answer.headers.get("x-svc-simulated"), "true");
    assert.deepEqual(
      envelope.warnings.map(({ code }) => code),
      ["SIMULATED_PROVIDER"],
    );
  });
}
