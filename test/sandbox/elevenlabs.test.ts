// The sandbox as ElevenLabs: what it refuses, keeps and is made to do wrong, by section of elevenlabs.md.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { wav } from "./wav.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
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
  ["§1 an unknown field cannot hide", [V2, ["diarise", "true"]], "diarise"],
  ["§1 the model is required", [], "model_id"],
  ["§1 an unknown model", [["model_id", "scribe_v3"]], "model_id"],
  ["§1 a boolean is true or false", [V2, ["diarize", "1"]], "diarize"],
  ["§1 a field is given once", [V2, ["diarize", "true"], ["diarize", "false"]], "diarize"],
  ["§1 33 speakers", [V2, ["diarize", "true"], ["num_speakers", "33"]], "num_speakers"],
  ["§1 a language is an ISO 639 code", [V2, ["language_code", "en-US"]], "language_code"],
  ["§1 categories repeat their field and are never joined", [V2, ["entity_detection", "pii,pci"]], "entity_detection"],
];
for (const [why, fields, field] of INVALID) {
  test(`${why}: 422`, async () => {
    const { status, json } = await convert(fields);
    assert.equal(status, 422);
    assert.deepEqual((json["detail"] as { loc: string[] }[])[0]?.loc, ["body", field]);
  });
}

const REFUSED: readonly (readonly [why: string, fields: Fields, param: string])[] = [
  ["§1 1,001 terms", [V2, ...many("keyterms", 1001)], "keyterms"],
  ["§1 a term of 50 characters", [V2, ["keyterms", "x".repeat(50)]], "keyterms"],
  ["§1 a term of six words", [V2, ["keyterms", "a b c d e f"]], "keyterms"],
  ["§1 a term with a bracket", [V2, ["keyterms", "a[b"]], "keyterms"],
  ["§1 terms for scribe_v1", [V1, ["keyterms", "a"]], "keyterms"],
  ["§1 entities for scribe_v1", [V1, ["entity_detection", "pii"]], "entity_detection"],
  ["§1 channels and speakers", [V2, ["use_multi_channel", "true"], ["diarize", "true"]], "diarize"],
  ["§1 channels and a number of speakers", [V2, ["use_multi_channel", "true"], ["num_speakers", "2"]], "num_speakers"],
  ["§1 redaction of what is not detected", [V2, ["entity_redaction", "pii"]], "entity_redaction"],
];
for (const [why, fields, param] of REFUSED) {
  test(`${why}: 400`, async () => {
    const { status, json } = await convert(fields);
    assert.equal(status, 400);
    assert.equal((json["detail"] as { param: string }).param, param);
  });
}

for (const [what, audio, status] of [
  ["no file", null, 422],
  ["bytes that are no audio", Buffer.from("these are no samples"), 400],
  ["50 ms", wav(0.05), 400],
  ["six channels asked apart", wav(1, 6), 400],
] as const) {
  test(`§1 ${what}: ${status}`, async () => {
    assert.equal((await convert([V2, ["use_multi_channel", "true"]], audio)).status, status);
  });
}

for (const key of ["", "invalid"]) {
  test(`§4 the key "${key}": 401 invalid_api_key`, async () => {
    const { status, json } = await convert([V2], wav(1), "", key);
    assert.deepEqual([status, (json["detail"] as { status: string }).status], [401, "invalid_api_key"]);
  });
}

test("§1 an unknown query parameter is refused, enable_logging is known", async () => {
  assert.equal((await convert([V2], wav(1), "?output=x")).status, 422);
  assert.equal((await convert([V2], wav(1), "?enable_logging=false")).status, 200);
});

test("§2 what is dropped in silence is not there", async () => {
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

test("the credential stands in no record of a call", async () => {
  await convert([V2], wav(1), "", "el-secret-of-somebody");
  assert.equal(sandbox.calls[0]?.headers["xi-api-key"], "…body");
  assert.doesNotMatch(JSON.stringify(sandbox.calls), /el-secret/);
});
