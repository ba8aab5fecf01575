// `profanity_filter` where the model has none: the gateway masks words from a list, where the route allows it.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { maskProfanity } from "../../../src/gateway/transcription/mask-profanity.ts";
import { detailsOf, envelopeOf, postForm } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { keyOf, MODELS, openaiModels } from "./openai-models.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    file: (sandbox) => openaiModels(sandbox, { accept_weak: ["profanity_filter"] }, { strict: "oa/whisper-1" }),
  });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

const SAID = "Well, shit. That fucking printer, Scheiße!";
const MASKED = "Well, s***. That f****** printer, S******!";
const says = (body: object) =>
  gateway.sandbox.addFault({ fault: { kind: "status", status: 200, body: JSON.stringify(body) } });

for (const app of MODELS)
  test(`transcription.masked-profanity: accept_weak: [profanity_filter] has ${app}'s text masked by the gateway, with the warning FEATURE_EMULATED`, async () => {
    says({ text: SAID, segments: [], words: [] });
    const envelope = envelopeOf(
      await postForm(gateway.origin, { key: keyOf(app), fields: { profanity_filter: "true" } }),
    );
    assert.equal(envelope.content, MASKED);
    assert.deepEqual(
      envelope.warnings.map(({ code, param }) => [code, param]),
      [["FEATURE_EMULATED", "profanity_filter"]],
    );
    const sent = JSON.stringify(gateway.sandbox.calls[0]?.fields ?? null);
    assert.doesNotMatch(sent, /profanity/u, "the provider is not asked");
  });

test("transcription.masked-profanity: segments, words and captions are masked like the text", async () => {
  const spoken = [
    { word: "Oh", start: 0, end: 1 },
    { word: "shit", start: 1, end: 2 },
  ];
  says({ text: "Oh shit", duration: 7, segments: [{ id: 0, text: " Oh shit", start: 0, end: 2 }], words: spoken });
  const fields = { profanity_filter: "true", timestamps: "both", response_format: "srt" };
  const { content, segments, words } = envelopeOf(await postForm(gateway.origin, { key: keyOf("whisper-1"), fields }));
  assert.match(content, /Oh s\*\*\*/u);
  assert.deepEqual([segments[0]?.text, words.map(({ text }) => text)], ["Oh s***", ["Oh", "s***"]]);
});

test("transcription.masked-profanity: without the filter nothing is masked, and without accept_weak the filter is refused before any call", async () => {
  says({ text: SAID });
  assert.equal(envelopeOf(await postForm(gateway.origin, { key: keyOf("whisper-1") })).content, SAID);
  gateway.sandbox.clearCalls();
  const refused = await postForm(gateway.origin, { key: keyOf("strict"), fields: { profanity_filter: "true" } });
  assert.deepEqual([refused.status, refused.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
  assert.deepEqual(detailsOf(refused)["missing"], ["profanity_filter"]);
  assert.equal(gateway.sandbox.calls.length, 0);
});

test("transcription.masked-profanity: a stream, whose text is sent as it comes, is refused the filter", async () => {
  const fields = { profanity_filter: "true", stream: "true" };
  const refused = await postForm(gateway.origin, { key: keyOf("gpt-4o-transcribe"), fields });
  assert.deepEqual([refused.status, detailsOf(refused)["missing"]], [422, ["profanity_filter"]]);
});

for (const [said, masked] of [
  ["Shit happens", "S*** happens"],
  ["SHIT", "S***"],
  ["bullshit's", "b*******'s"],
  ["Scunthorpe, cocktail and assess", "Scunthorpe, cocktail and assess"],
  ["con mucho gusto; il fick; ett slut", "con mucho gusto; il fick; ett slut"],
  ["co\u006e\u0303o", "c***"],
] as const)
  test(`transcription.masked-profanity: ${JSON.stringify(said)} is masked to ${JSON.stringify(masked)}`, () => {
    assert.equal(maskProfanity(said), masked);
  });
