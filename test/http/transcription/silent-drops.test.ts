// Silent drops: each option that a provider is known to drop without an error, played by the sandbox, detected by its receipt, and
// answered by the next target or by 502 FEATURE_NOT_DELIVERED without the transcript.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Fault, FaultRule, Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { fixture } from "../../audio/build-audio.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { type Answer, envelopeOf, postForm } from "../../harness/client.ts";
import { byId, configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";

/** One second, two channels. */
const AUDIO = fixture("speech-44k-stereo.wav");

interface Drop {
  readonly name: string;
  /** Connection and model of the target that drops, then of the one behind it. */
  readonly first: readonly [connection: string, model: string];
  readonly second: readonly [connection: string, model: string];
  /** What the sandbox does; nothing where its server drops by itself. */
  readonly fault: Fault | null;
  readonly fields: Readonly<Record<string, string>>;
  readonly feature: string;
}

const AA = ["aa", "universal-3-5-pro"] as const;
const DG = ["dg", "nova-3"] as const;
const EL = ["el", "scribe_v2"] as const;
const drop = (feature: Extract<Fault, { kind: "drop" }>["feature"]): Fault => ({ kind: "drop", feature });

const DROPS: readonly Drop[] = [
  {
    name: "assemblyai-speakers",
    first: AA,
    second: DG,
    fault: drop("diarization"),
    fields: { diarization: "true" },
    feature: "diarization",
  },
  {
    name: "assemblyai-redaction",
    first: AA,
    second: DG,
    fault: drop("redaction"),
    fields: { redaction: "pii", language: "en" },
    feature: "redaction.pii",
  },
  {
    name: "assemblyai-keyterms",
    first: AA,
    second: EL,
    fault: drop("keyterms"),
    fields: { keyterms: "Patchbay" },
    feature: "keyterms",
  },
  { name: "assemblyai-model", first: AA, second: DG, fault: drop("model"), fields: {}, feature: "model" },
  {
    // A declaration can promise speakers under detection; the provider may not keep it.
    name: "deepgram-declared",
    first: ["dg-declared", "nova-2-phonecall"],
    second: DG,
    fault: drop("diarization"),
    fields: { diarization: "true", detect_language: "true" },
    feature: "diarization",
  },
  {
    name: "elevenlabs-mono-shape",
    first: EL,
    second: DG,
    fault: drop("multichannel"),
    fields: { multichannel: "true" },
    feature: "multichannel",
  },
  {
    name: "elevenlabs-speakers",
    first: EL,
    second: AA,
    fault: drop("diarization"),
    fields: { diarization: "true" },
    feature: "diarization",
  },
  {
    name: "deepgram-model-switch",
    first: DG,
    second: EL,
    fault: drop("model"),
    fields: { detect_language: "true" },
    feature: "model",
  },
  {
    name: "vllm-words",
    first: ["vllm", "voxtral"],
    second: DG,
    fault: null,
    fields: { timestamps: "word" },
    feature: "timestamps.word",
  },
  {
    // Without its diarization model it transcribes all the same.
    name: "speaches-speakers",
    first: ["speaches", "whisper-large"],
    second: DG,
    fault: drop("diarization"),
    fields: { diarization: "true" },
    feature: "diarization",
  },
  {
    // Its default is the first channel alone.
    name: "google-channels",
    first: ["gs", "chirp_2"],
    second: DG,
    fault: drop("multichannel"),
    fields: { multichannel: "true", language: "en-US" },
    feature: "multichannel",
  },
  {
    name: "openai-language",
    first: ["oa", "gpt-transcribe"],
    second: EL,
    fault: drop("language"),
    fields: { detect_language: "true" },
    feature: "language",
  },
  {
    name: "whisper-cpp-language",
    first: ["whisper-cpp", "whisper"],
    second: EL,
    fault: drop("language"),
    fields: { detect_language: "true" },
    feature: "language",
  },
];

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

for (const each of DROPS) {
  test(`transcription.receipts, providers.receipts: ${each.name}: the next target answers, and the trace names what was dropped`, async () => {
    plant(each);
    const answer = await ask(each, each.name);
    assert.match(envelopeOf(answer).content, /simulated transcript/);
    assert.deepEqual(await outcomesOf(answer), [
      [each.first[1], "failed:feature_dropped"],
      [each.second[1], "succeeded"],
    ]);
    assert.ok(gateway.logs.some((line) => line.includes(`"reason":"${each.feature}"`)));
  });

  test(`transcription.receipts, routing.feature-not-delivered: ${each.name} without another target: 502 FEATURE_NOT_DELIVERED, and no transcript`, async () => {
    plant(each);
    const answer = await ask(each, `${each.name}-alone`);
    assert.deepEqual([answer.status, answer.code], [502, "FEATURE_NOT_DELIVERED"]);
    assert.doesNotMatch(answer.text, /simulated/);
    assert.deepEqual(await outcomesOf(answer), [[each.first[1], "failed:feature_dropped"]]);
  });
}

test("providers.conditional-features: speakers where the language is unknown: AssemblyAI, which would drop them, is not even called", async () => {
  const answer = await postForm(gateway.origin, {
    file: AUDIO,
    fields: { diarization: "true", detect_language: "true", purpose: "assemblyai-speakers" },
  });
  envelopeOf(answer);
  assert.deepEqual(await outcomesOf(answer), [["nova-3", "succeeded"]]);
});

test("routing.language-in-force: whisper.cpp is sent detect, as without a language it assumes English; without detection it is sent English", async () => {
  await postForm(gateway.origin, { file: AUDIO, fields: { detect_language: "true", purpose: "whisper-cpp-language" } });
  await postForm(gateway.origin, { file: AUDIO, fields: { purpose: "whisper-cpp-language" } });
  assert.deepEqual(
    gateway.sandbox.calls.map(({ fields }) => fields.find(([name]) => name === "language")?.[1]),
    ["auto", "en"],
  );
});

function plant({ first: [connection, model], fault }: Drop): void {
  const wires: Readonly<Record<string, FaultRule["wire"]>> = {
    aa: "assemblyai",
    dg: "deepgram",
    "dg-declared": "deepgram",
    el: "elevenlabs",
    gs: "google-speech",
    oa: "openai",
  };
  const wire = wires[connection];
  if (fault !== null) gateway.sandbox.addFault({ wire: wire ?? "compatible", model, fault });
}

function ask({ fields }: Drop, purpose: string): Promise<Answer> {
  return postForm(gateway.origin, { file: AUDIO, fields: { ...fields, purpose } });
}

async function outcomesOf(answer: Answer): Promise<readonly (readonly [string, string | null])[]> {
  return (await attemptRows(gateway, answer)).map(({ model, outcome }) => [model, outcome]);
}

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const pathOf = (target: readonly [string, string]): string => target.join("/");
  const compatible = (id: "vllm" | "whisper-cpp" | "speaches", features: object, model: string) => ({
    kind: "openai-compatible" as const,
    base_url: sandbox.compatibleUrl(id),
    models: { [model]: { capabilities: ["audio_input" as const], dialect: id, features } },
  });
  const names = DROPS.flatMap(({ name }) => [name, `${name}-alone`]);
  return configurationWith(sandbox, {
    connections: {
      aa: { kind: "assemblyai" },
      "dg-declared": {
        kind: "deepgram",
        models: {
          "nova-2-phonecall": {
            capabilities: ["audio_input"],
            features: { diarization: true, detect_language: true },
          },
        },
      },
      gs: { kind: "google-speech", api_key: "ya29.token" },
      speaches: compatible("speaches", { diarization: true }, "whisper-large"),
      vllm: compatible("vllm", { timestamps: ["word"] }, "voxtral"),
      "whisper-cpp": compatible("whisper-cpp", { detect_language: true }, "whisper"),
    },
    routes: Object.fromEntries(
      DROPS.flatMap(({ name, first, second }) => [
        [name, [pathOf(first), pathOf(second)]],
        [`${name}-alone`, [pathOf(first)]],
      ]),
    ),
    apps: {
      notes: {
        route: "assemblyai-model",
        audio_purpose_policy: "strict",
        purposes: byId(names, (name) => name),
        scopes: ["transcribe"],
        key: KEY,
      },
    },
  });
}
