// The sandbox as ElevenLabs: what it refuses, keeps and does wrong when a fault is set.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { wav } from "./wav.ts";

let sandbox: Sandbox;
/** A day on which scribe_v1 was still accepted. */
const BEFORE_END_MS = Date.parse("2026-07-08T23:59:59Z");
let nowMs = BEFORE_END_MS;
before(async () => {
  sandbox = await startSandbox({ nowMs: () => nowMs });
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

type Fields = readonly (readonly [string, string])[];

async function convert(fields: Fields, audio: Buffer<ArrayBuffer> | null = wav(2.5, 2), query = "", key = "el-wire") {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  if (audio !== null) form.append("file", new Blob([audio]), "speech.wav");
  const headers: Record<string, string> = key === "" ? {} : { "xi-api-key": key };
  const url = `${sandbox.elevenlabsUrl}/v1/speech-to-text${query}`;
  const response = await fetch(url, { method: "POST", headers, body: form });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const V2: readonly [string, string] = ["model_id", "scribe_v2"];
const V1: readonly [string, string] = ["model_id", "scribe_v1"];
const many = (name: string, count: number): Fields => Array.from({ length: count }, (_, index) => [name, `t${index}`]);

const INVALID: readonly (readonly [why: string, fields: Fields, field: string])[] = [
  ["an unknown field cannot hide", [V2, ["diarise", "true"]], "diarise"],
  ["the model is required", [], "model_id"],
  ["an unknown model", [["model_id", "scribe_v3"]], "model_id"],
  ["a boolean is true or false", [V2, ["diarize", "1"]], "diarize"],
  ["a field is given once", [V2, ["diarize", "true"], ["diarize", "false"]], "diarize"],
  ["33 speakers", [V2, ["diarize", "true"], ["num_speakers", "33"]], "num_speakers"],
  ["a language is an ISO 639 code", [V2, ["language_code", "en-US"]], "language_code"],
  ["categories repeat their field and are never joined", [V2, ["entity_detection", "pii,pci"]], "entity_detection"],
];
for (const [why, fields, field] of INVALID) {
  test(`providers.sandbox-refusals: elevenlabs, ${why}: 422`, async () => {
    const { status, json } = await convert(fields);
    assert.equal(status, 422);
    assert.deepEqual((json["detail"] as { loc: string[] }[])[0]?.loc, ["body", field]);
  });
}

test("providers.sandbox-retirement: elevenlabs, scribe_v1 is refused from 2026-07-09 on, by the sandbox's clock", async () => {
  assert.equal((await convert([V1])).status, 200);
  nowMs = Date.parse("2026-07-09T00:00:00Z");
  const [old, current] = [await convert([V1]), await convert([V2])];
  nowMs = BEFORE_END_MS;
  assert.deepEqual([old.status, current.status], [422, 200]);
  assert.deepEqual((old.json["detail"] as { loc: string[] }[])[0]?.loc, ["body", "model_id"]);
});

const REFUSED: readonly (readonly [why: string, fields: Fields, param: string])[] = [
  ["1,001 terms", [V2, ...many("keyterms", 1001)], "keyterms"],
  ["a term of 50 characters", [V2, ["keyterms", "x".repeat(50)]], "keyterms"],
  ["a term of six words", [V2, ["keyterms", "a b c d e f"]], "keyterms"],
  ["a term with a bracket", [V2, ["keyterms", "a[b"]], "keyterms"],
  ["terms for scribe_v1", [V1, ["keyterms", "a"]], "keyterms"],
  ["entities for scribe_v1", [V1, ["entity_detection", "pii"]], "entity_detection"],
  ["channels and speakers", [V2, ["use_multi_channel", "true"], ["diarize", "true"]], "diarize"],
  ["channels and a number of speakers", [V2, ["use_multi_channel", "true"], ["num_speakers", "2"]], "num_speakers"],
  ["redaction of what is not detected", [V2, ["entity_redaction", "pii"]], "entity_redaction"],
];
for (const [why, fields, param] of REFUSED) {
  test(`providers.sandbox-refusals: elevenlabs, ${why}: 400`, async () => {
    const { status, json } = await convert(fields);
    assert.equal(status, 400);
    assert.equal((json["detail"] as { param: string }).param, param);
  });
}

for (const [what, audio, status] of [
  ["no file", null, 422],
  ["bytes that are no audio", Buffer.from("these are no samples"), 400],
  ["50 ms", wav(0.05), 400],
  ["six channels asked for separately", wav(1, 6), 400],
] as const) {
  test(`providers.sandbox-refusals: elevenlabs, ${what}: ${status}`, async () => {
    assert.equal((await convert([V2, ["use_multi_channel", "true"]], audio)).status, status);
  });
}

for (const key of ["", "invalid"]) {
  test(`providers.sandbox-refusals: elevenlabs, the key "${key}": 401 invalid_api_key`, async () => {
    const { status, json } = await convert([V2], wav(1), "", key);
    assert.deepEqual([status, (json["detail"] as { status: string }).status], [401, "invalid_api_key"]);
  });
}

test("providers.sandbox-refusals: elevenlabs, an unknown query parameter is refused, enable_logging is known", async () => {
  assert.equal((await convert([V2], wav(1), "?output=x")).status, 422);
  assert.equal((await convert([V2], wav(1), "?enable_logging=false")).status, 200);
});

test("providers.sandbox-faults: elevenlabs, a feature that is dropped in silence is absent", async () => {
  for (const feature of ["diarization", "language"] as const) {
    sandbox.addFault({ wire: "elevenlabs", model: "scribe_v2", fault: { kind: "drop", feature } });
  }
  const { json } = await convert([V2, ["diarize", "true"]]);
  assert.equal(json["language_code"], null);
  const words = json["words"] as { speaker_id: unknown }[];
  assert.ok(words.length > 0 && words.every(({ speaker_id }) => speaker_id === null));
  sandbox.addFault({ wire: "elevenlabs", fault: { kind: "drop", feature: "multichannel" } });
  assert.ok("words" in (await convert([V2, ["use_multi_channel", "true"]])).json);
});

test("providers.sandbox-calls: elevenlabs, the credential is in no record of a call", async () => {
  await convert([V2], wav(1), "", "el-secret-of-somebody");
  assert.equal(sandbox.calls[0]?.headers["xi-api-key"], "…body");
  assert.doesNotMatch(JSON.stringify(sandbox.calls), /el-secret/);
});
