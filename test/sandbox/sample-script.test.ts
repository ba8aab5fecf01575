// The bundled sample through every simulated provider: its words, times and speakers, marked as simulated. Other recordings have no script.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { generateKey } from "../../src/auth/key-format.ts";
import { samplePath } from "../../src/cli/package-root.ts";
import { isEngineInstalled } from "../../src/providers/local/engine/engine-installed.ts";
import { sandbox as sandboxProvider } from "../../src/providers/sandbox/sandbox.ts";
import { envelopeOf, postForm } from "../harness/client.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { SAMPLE_TEXT, SAMPLE_TURNS } from "../harness/sample-text.ts";
import { speak, wavOf } from "../harness/local-model.ts";

const SAMPLE = readFileSync(samplePath());
const TEST_KEY = generateKey("test");
/** They stream only, or their endpoint is for live audio. */
const MODELS = Object.entries(sandboxProvider.models).flatMap(([name, { streamsOnly, features }]) =>
  streamsOnly === true ? [] : [{ name, hasSpeakers: features.diarization !== undefined }],
);
const keyOf = (index: number): string => `key-of-the-app-number-${String(index).padStart(4, "0")}`;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    file: (origin) =>
      configurationWith(origin, {
        scopes: ["transcribe"],
        connections: { sim: { kind: "sandbox" }, here: { kind: "local" } },
        routes: {
          ...Object.fromEntries(MODELS.map(({ name }, index) => [`r${index}`, `sim/${name}`])),
          here: "here/demonstration-en",
        },
        apps: {
          ...Object.fromEntries(MODELS.map((_, index) => [`a${index}`, { route: `r${index}`, key: keyOf(index) }])),
          plain: { route: "r0", key: KEY },
          here: { route: "here", keys: { test: TEST_KEY } },
        },
      }),
  });
});
after(() => gateway.close());

test("providers.sandbox-sample: each simulated model answers the bundled sample with what is said in it, marked as simulated", async () => {
  for (const [index, { name, hasSpeakers }] of MODELS.entries()) {
    const fields = hasSpeakers ? { diarization: "true" } : {};
    const envelope = envelopeOf(await postForm(gateway.origin, { key: keyOf(index), file: SAMPLE, fields }));
    assert.equal(envelope.content, SAMPLE_TEXT, name);
    assert.ok(
      envelope.warnings.some(({ code }) => code === "SIMULATED_PROVIDER"),
      name,
    );
    if (!hasSpeakers) continue;
    const turns: { speaker: string | null; text: string }[] = [];
    for (const { speaker, text } of envelope.segments) {
      const last = turns.at(-1);
      if (last?.speaker === speaker) last.text += ` ${text}`;
      else turns.push({ speaker, text });
    }
    assert.deepEqual(turns, SAMPLE_TURNS, name);
  }
});

test("providers.sandbox-sample: words have the generator's times, and captions have a sentence each", async () => {
  const envelope = envelopeOf(await postForm(gateway.origin, { file: SAMPLE, fields: { timestamps: "both" } }));
  assert.deepEqual(
    [envelope.words[0], envelope.words.at(-1)].map((word) => [word?.text, word?.start, word?.end]),
    [
      ["Good", 0, 0.22],
      ["you.", 13.62, 13.77],
    ],
  );
  assert.equal(envelope.segments.length, 8);
  const srt = envelopeOf(await postForm(gateway.origin, { file: SAMPLE, fields: { response_format: "srt" } }));
  assert.match(
    srt.content,
    /^1\r?\n00:00:00,000 --> 00:00:02,250\r?\nGood morning, this is the harbour office\.\r?\n/u,
  );
});

test("providers.sandbox-sample, local.test-key: a test key on a model of this machine, whose samples were decoded, gets the script, too", {
  skip: isEngineInstalled() ? false : "not run without sherpa-onnx-node",
}, async () => {
  const envelope = envelopeOf(await postForm(gateway.origin, { key: TEST_KEY, file: SAMPLE, fields: {} }));
  assert.equal(envelope.content, SAMPLE_TEXT);
  assert.deepEqual(
    envelope.warnings.map(({ code }) => code),
    ["SIMULATED_PROVIDER"],
  );
});

test("providers.sandbox-honest: every other recording is answered with measured facts", async () => {
  const file = wavOf(speak("hello", "doctor").samples);
  assert.match(envelopeOf(await postForm(gateway.origin, { file })).content, /^\[simulated transcript, /u);
});
