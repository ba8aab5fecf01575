// POST /v1/transcription: requests that succeed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { envelopeOf, postForm, postJson, speech } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const base64 = () => Buffer.from(speech()).toString("base64");

test("transcription.envelope, transcription.usage: a multipart file becomes the whole envelope, measured and routed to the first target", async () => {
  gateway.sandbox.clearCalls();
  const answer = await postForm(gateway.origin, { fields: { language: "en" } });
  const envelope = envelopeOf(answer);
  assert.match(envelope.id, /^tr_/);
  assert.equal(envelope.object, "transcription");
  assert.equal(envelope.status, "completed");
  assert.match(envelope.content, /^\[simulated transcript, \d+\.\d s, mono\]$/);
  assert.equal(envelope.duration_seconds, envelope.usage.audio_seconds);
  assert(envelope.duration_seconds > 4);
  assert.equal(envelope.usage.billable_audio_seconds, 0, "no price: provider-billed");
  assert.deepEqual([envelope.segments, envelope.words, envelope.warnings], [[], [], []]);
  assert.deepEqual(
    gateway.sandbox.calls.map((call) => [call.wire, call.model, call.outcome]),
    [["deepgram", "nova-3", 200]],
  );
  assert.equal(
    answer.headers.get("x-svc-simulated"),
    null,
    "a connection of the operator's own is not called simulated",
  );
});

test("request-body.sources: base64, data, a plain string and the file are the same audio", async () => {
  const audio = base64();
  const answers = await Promise.all([
    postForm(gateway.origin),
    postForm(gateway.origin, { fields: {} }),
    postJson(gateway.origin, { audio: { base64: audio } }),
    postJson(gateway.origin, { audio: { data: audio } }),
    postJson(gateway.origin, { audio }),
    postJson(gateway.origin, { audio: { base64: `data:audio/wav;base64,${audio}` } }),
  ]);
  const seconds = new Set(answers.map((answer) => envelopeOf(answer).duration_seconds));
  assert.equal(seconds.size, 1);
});

test("transcription.options-reach-provider, transcription.lists: every option reaches the provider, and what was asked comes back", async () => {
  gateway.sandbox.clearCalls();
  const envelope = envelopeOf(
    await postJson(gateway.origin, {
      audio: base64(),
      language: "en",
      diarization: true,
      timestamps: "both",
      keyterms: ["Patchbay"],
      custom_vocabulary: ["diarization", "Patchbay"],
      redaction: ["pii", "numbers"],
      profanity_filter: true,
      smart_formatting: true,
    }),
  );
  const query = gateway.sandbox.calls[0]?.query ?? [];
  const values = (name: string) => query.filter(([key]) => key === name).map(([, value]) => value);
  assert.deepEqual(values("keyterm"), ["diarization", "Patchbay"]);
  assert.deepEqual(values("redact"), ["pii", "numbers"]);
  assert.deepEqual(
    [values("profanity_filter"), values("smart_format"), values("language")],
    [["true"], ["true"], ["en"]],
  );
  assert.deepEqual([...new Set(envelope.words.map((word) => word.speaker))], ["S1", "S2"]);
  assert.deepEqual([...new Set(envelope.segments.map((segment) => segment.speaker))], ["S1", "S2"]);
});

test("captions.json-always, transcription.lists: each response_format is made by the gateway from words and segments", async () => {
  for (const [format, expected] of [
    ["json", /^\[simulated transcript/],
    ["verbose_json", /^\[simulated transcript/],
    ["text", /^\[simulated transcript/],
    ["srt", /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/],
    ["vtt", /^WEBVTT\n\n00:00:0\d\.\d{3} --> /],
  ] as const) {
    const envelope = envelopeOf(await postForm(gateway.origin, { fields: { response_format: format } }));
    assert.match(envelope.content, expected, format);
    assert.equal(
      envelope.segments.length > 0,
      format === "verbose_json" || format === "srt" || format === "vtt",
      format,
    );
  }
  const diarized = envelopeOf(await postForm(gateway.origin, { fields: { response_format: "diarized_json" } }));
  assert(diarized.segments.length > 0 && diarized.segments.every((segment) => segment.speaker !== null));
  const text = envelopeOf(await postForm(gateway.origin, { fields: { response_format: "text", diarization: "true" } }));
  assert.match(text.content, /^S1: .*\nS2: /);
});

test("captions.bare-body, captions.facts-in-headers: Accept gives the bare body, with the facts in headers", async () => {
  for (const [accept, format, begin] of [
    ["text/plain", "text", "[simulated"],
    ["application/x-subrip", "srt", "1\n00:00"],
    ["text/vtt", "vtt", "WEBVTT"],
  ] as const) {
    const answer = await postForm(gateway.origin, {
      fields: { response_format: format, purpose: "unheard-of" },
      headers: { accept },
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), `${accept}; charset=utf-8`);
    assert(answer.text.startsWith(begin), answer.text);
    assert.equal(answer.headers.get("x-svc-requested-purpose"), "unheard-of");
    assert.equal(answer.headers.get("x-svc-applied-purpose"), null);
    assert.equal(answer.headers.get("x-svc-purpose-source"), "fallback");
    assert.equal(answer.headers.get("x-svc-warnings"), "PURPOSE_NOT_APPLIED");
    assert.match(answer.headers.get("x-svc-audio-seconds") ?? "", /^\d+(\.\d+)?$/);
  }
  const mismatch = await postForm(gateway.origin, {
    fields: { response_format: "json" },
    headers: { accept: "text/vtt" },
  });
  assert.equal(mismatch.code, "NOT_ACCEPTABLE");
});

test("captions.format-by-accept: where no response_format is sent, an Accept for text asks for its speakers too, and is no part of a keyed payload", async () => {
  const call = { fields: { diarization: "true" }, headers: { "idempotency-key": "speakers-by-accept" } };
  const text = await postForm(gateway.origin, { ...call, headers: { ...call.headers, accept: "text/plain" } });
  assert.match(text.text, /^S1: .*\nS2: /);
  const again = await postForm(gateway.origin, call);
  assert.deepEqual([again.status, again.text], [200, text.text]);
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
});

test("captions.format-by-accept: where no response_format is sent, an Accept for captions asks for them; it is no part of a keyed payload", async () => {
  for (const [accept, type, begin] of [
    ["application/x-subrip", "application/x-subrip", "1\n00:00"],
    ["text/vtt, application/json;q=0.5", "text/vtt", "WEBVTT"],
    ["application/json, text/vtt", "application/json", "{"],
    ["text/*", "text/plain", "[simulated"],
    ["*/*", "application/json", "{"],
  ] as const) {
    const answer = await postForm(gateway.origin, { headers: { accept } });
    assert.equal(answer.headers.get("content-type"), `${type}; charset=utf-8`, accept);
    assert(answer.text.startsWith(begin), answer.text);
  }
  const headers = { "idempotency-key": "by-accept" };
  const first = await postForm(gateway.origin, { headers: { ...headers, accept: "text/vtt" } });
  assert(first.text.startsWith("WEBVTT"), first.text);
  const again = await postForm(gateway.origin, { headers });
  assert.deepEqual([again.status, again.text], [200, first.text]);
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
});

test("routing.preference-dropped: preferences that the model lacks are dropped with a warning that names them", async () => {
  const envelope = envelopeOf(
    await postForm(gateway.origin, { fields: { prompt: "a podcast", speaker_count_hint: "2" } }),
  );
  assert.deepEqual(
    envelope.warnings.map((warning) => [warning.code, warning.param]),
    [
      ["PREFERENCE_DROPPED", "speaker_count_hint"],
      ["PREFERENCE_DROPPED", "prompt"],
    ],
  );
});

test("measuring.content-decides, measuring.hints, measuring.provider-naming: content decides; a wrong name or type is a warning and the provider gets the true ones", async () => {
  gateway.sandbox.clearCalls();
  const envelope = envelopeOf(await postForm(gateway.origin, { fileName: "speech.mp3", fileType: "audio/mpeg" }));
  assert.deepEqual(
    envelope.warnings.map((warning) => warning.code),
    ["MEDIA_TYPE_MISMATCH"],
  );
  assert.match(gateway.sandbox.calls[0]?.headers["content-type"] ?? "", /^audio\/(x-)?wav/);
});

test("transcription.smart-formatting-off: smart_formatting false is a preference as well: honoured without a warning, or dropped with one", async () => {
  const dropped = async () => {
    const { warnings } = envelopeOf(await postForm(gateway.origin, { fields: { smart_formatting: "false" } }));
    return warnings.map(({ code, param }) => [code, param]);
  };
  assert.deepEqual(await dropped(), []);
  // The next target's models always write as people do.
  gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 500 } });
  assert.deepEqual(await dropped(), [["PREFERENCE_DROPPED", "smart_formatting"]]);
});

test("routing.dry-run: dry_run judges everything, calls nothing, reserves nothing", async () => {
  gateway.sandbox.clearCalls();
  const answer = await postForm(gateway.origin, {
    fields: { dry_run: "true", multichannel: "true" },
    headers: { "idempotency-key": "dry" },
  });
  assert.equal(answer.status, 200);
  assert.deepEqual((answer.json as { outcome: unknown }).outcome, { status: 200, code: null, position: 1 });
  assert.equal(gateway.sandbox.callCount, 0);
  const refused = await postForm(gateway.origin, { fields: { dry_run: "true", language: "de", redaction: "true" } });
  assert.equal((refused.json as { outcome: { code: string } }).outcome.code, "REQUIRED_FEATURE_UNSUPPORTED");
  const again = await postForm(gateway.origin, { fields: { dry_run: "true" }, headers: { "idempotency-key": "dry" } });
  assert.equal(again.status, 200, "the key was ignored");
});
