// OpenAI's transcription sessions: configuration, order of items, final texts, errors, and the conversion of the samples.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type FailureKind, ProviderError } from "../../src/providers/io.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import { createRateConverter } from "../../src/providers/openai/openai-sample-rate.ts";
import type { SpeechAudio } from "../../src/providers/provider.ts";
import { PROVIDER_TEXT } from "./suites/failure-suite.ts";
import { audioFixture, requestFor } from "./suites/fixtures.ts";
import {
  AUDIO,
  committedItem,
  completed,
  delta,
  failure,
  OPENAI_LIVE,
  provider,
  say,
  transcript,
} from "./suites/socket-suite.ts";
import { targetOf } from "./suites/subject.ts";
import { ioFor } from "./suites/wire-suite.ts";

const { golden } = OPENAI_LIVE;
assert.ok(golden);
const { speech, target } = targetOf(openai, golden);

/** What is returned while it is transcribed, and in the end. */
async function heard(t: Parameters<typeof provider>[0], messages: readonly object[]) {
  const { url } = await provider(t, { onFinish: (client) => say(client, messages) });
  const { events, transcript: whole } = await transcript(t, OPENAI_LIVE, url);
  const texts = events.map((event) => (event.type === "text" ? event.text : assert.fail(event.type)));
  assert.equal(texts.join(""), whole.text);
  return { texts, whole };
}

test("providers.request-content: openai, the session is configured by its first message, and its address names no model", async (t) => {
  const { url, heard: calls } = await provider(t, { onFinish: (client) => say(client, OPENAI_LIVE.messages) });
  const wishes = { keyterms: ["Patchbay"], language: { kind: "asked", tag: "de-AT" } } as const;
  const { transcript: whole } = await transcript(t, OPENAI_LIVE, url, { wishes });
  assert.deepEqual(
    [calls[0]?.url, calls[0]?.sessions],
    [
      "/realtime?intent=transcription",
      [
        {
          type: "transcription",
          audio: {
            input: {
              format: { type: "audio/pcm", rate: 24_000 },
              transcription: { model: "gpt-live-transcribe", languages: ["de"], keywords: ["Patchbay"] },
              turn_detection: null,
            },
          },
        },
      ],
    ],
  );
  assert.deepEqual(
    whole.receipts.map(({ feature, grade, delivered }) => [feature, grade, delivered]),
    [
      ["keyterms", "sent", true],
      ["streaming", "shown", true],
    ],
  );
  assert.deepEqual([whole.providerRequestId, whole.language, whole.words, whole.segments], ["s-1", null, [], []]);
});

test("providers.live-turns: openai, pieces of text are returned as they arrive, and blanks only between two of them", async (t) => {
  const messages = [
    delta("i", " Good"),
    delta("i", " "),
    delta("i", "day."),
    committedItem("i"),
    completed("i", "Good day. "),
  ];
  assert.deepEqual((await heard(t, messages)).texts, ["Good", " day."]);
});

test("providers.live-turns: openai, items are returned in their order, also if a later one is complete before", async (t) => {
  const { texts, whole } = await heard(t, [
    committedItem("i-1"),
    delta("i-2", "Second"),
    committedItem("i-2"),
    completed("i-2", "Second."),
    delta("i-1", "First"),
    completed("i-1", "First."),
  ]);
  assert.deepEqual(texts, ["First", ".", " Second."]);
  assert.deepEqual([whole.text, whole.providerSeconds], ["First. Second.", 2]);
});

test("providers.live-turns: openai, a final text that differs from its pieces does not change what was returned", async (t) => {
  const messages = [delta("i", "I scream."), committedItem("i"), completed("i", "Ice cream.")];
  assert.equal((await heard(t, messages)).whole.text, "I scream.");
});

test("providers.live-turns: openai, silence is an empty text", async (t) => {
  assert.deepEqual((await heard(t, [committedItem("i"), completed("i", "")])).texts, []);
});

test("providers.live-turns: openai, an item that was complete before the end of the audio does not end the session", async (t) => {
  const received = Promise.withResolvers<void>();
  let hasSpoken = false;
  const { url } = await provider(t, {
    onAudio: (client) => {
      if (hasSpoken) return;
      hasSpoken = true;
      say(client, [delta("i-1", "One."), committedItem("i-1"), completed("i-1", "One.")]);
      // Answered after the messages before it.
      client.once("pong", () => received.resolve());
      client.ping();
    },
    onFinish: (client) => say(client, [committedItem("i-2"), completed("i-2", "Two.")]),
  });
  const spoken = async function* () {
    yield new Uint8Array(3_200);
    await received.promise;
    yield new Uint8Array(3_200);
  };
  const { transcript: whole } = await transcript(t, OPENAI_LIVE, url, {
    audio: audioFixture({ ...AUDIO, open: spoken }),
  });
  assert.equal(whole.text, "One. Two.");
});

const error = (code: string | null, type: string) => ({
  type: "error",
  event_id: "e",
  error: { type, code, message: PROVIDER_TEXT, param: null },
});

test("providers.live-turns: openai, an empty commit after an item means that all audio was in it", async (t) => {
  const empty = error("input_audio_buffer_commit_empty", "invalid_request_error");
  assert.equal((await heard(t, [delta("i", "All."), empty, completed("i", "All.")])).whole.text, "All.");
  const { url } = await provider(t, { onFinish: (client) => say(client, [empty]) });
  assert.equal((await failure(t, OPENAI_LIVE, url)).kind, "rejected");
});

const CASES: readonly (readonly [code: string | null, type: string, FailureKind])[] = [
  ["invalid_api_key", "invalid_request_error", "unauthorized"],
  ["insufficient_quota", "insufficient_quota", "payment"],
  ["rate_limit_exceeded", "tokens", "rate_limited"],
  ["model_not_found", "invalid_request_error", "not_found"],
  ["invalid_value", "invalid_request_error", "rejected"],
  [null, "server_error", "server_error"],
  ["session_expired", "invalid_request_error", "unknown"],
  ["something_new", "something_new", "bad_reply"],
];
for (const [code, type, expected] of CASES) {
  test(`providers.failure-kinds: openai's session refuses its configuration with ${code ?? type}: ${expected}, and no audio is read`, async (t) => {
    const { url, heard: calls } = await provider(t, { onSession: (client) => say(client, [error(code, type)]) });
    let dispatched = 0;
    const audio = audioFixture({ ...AUDIO, open: () => assert.fail("the audio was read") });
    const failed = await failure(t, OPENAI_LIVE, url, { audio, onDispatch: () => (dispatched += 1) });
    assert.deepEqual([failed.kind, dispatched, calls[0]?.bytes], [expected, 0, 0]);
  });

  test(`providers.failure-kinds: openai's session reports ${code ?? type} after the audio: ${expected}`, async (t) => {
    const { url } = await provider(t, { onFinish: (client) => say(client, [error(code, type)]) });
    assert.equal((await failure(t, OPENAI_LIVE, url)).kind, expected);
  });
}

test("providers.failure-kinds: openai, an item whose transcription failed is no transcript", async (t) => {
  const failed = {
    ...error(null, "server_error"),
    type: "conversation.item.input_audio_transcription.failed",
    item_id: "i",
  };
  const { url } = await provider(t, { onFinish: (client) => say(client, [committedItem("i"), failed]) });
  assert.equal((await failure(t, OPENAI_LIVE, url)).kind, "server_error");
});

test("providers.socket-refusal: openai, a configuration that is not answered: connect, before any audio", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let isOver = false;
  const pass = (): void => {
    if (isOver) return;
    t.mock.timers.tick(200);
    setImmediate(pass);
  };
  const { url, heard: calls } = await provider(t, { onSession: pass });
  const failed = await failure(t, OPENAI_LIVE, url, { idleTimeoutMs: 200, deadlineMs: 3_600_000 });
  isOver = true;
  assert.deepEqual([failed.kind, calls[0]?.bytes], ["connect", 0]);
});

test("providers.preference-named: openai, a prompt of more than 1,024 characters is named as dropped", () => {
  const dropped = (length: number) => {
    const result = openai.plan(requestFor(speech, { prompt: "a".repeat(length) }), target);
    return result.ok && result.dropped;
  };
  assert.deepEqual([dropped(1_024), dropped(1_025)], [[], ["prompt"]]);
});

test("providers.live-pacing: openai, samples of another rate than 16 kHz are not sent", async (t) => {
  const { url } = await provider(t, {});
  const planned = openai.plan(requestFor(speech, {}), target);
  assert.ok(planned.ok);
  const audio: SpeechAudio = audioFixture({ ...AUDIO, samplesPerSecond: 44_100 });
  assert.throws(
    () => openai.stream?.(planned.plan, audio, ioFor(t, url)),
    (thrown) => thrown instanceof ProviderError && thrown.kind === "rejected" && thrown.reason === "sample_rate",
  );
});

test("providers.declared-features: openai, a live model that only a configuration declares is planned for live audio alone", () => {
  const { limits: _, streamsOnly: __, life: ___, ...declared } = speech;
  const named = { model: "gpt-live-transcribe-2027-01-01", speech: { ...declared, limits: {} }, settings: {} };
  const plan = (stream: boolean) => openai.plan(requestFor(named.speech, { stream }), named);
  assert.deepEqual(plan(false), { ok: false, missing: ["batch"] });
  const live = plan(true);
  assert.deepEqual(live.ok && [live.plan.kind, live.plan.path], ["json", "/realtime"]);
});

const RATE = 16_000;
function tone(hertz: number, seconds: number): Buffer {
  const bytes = Buffer.alloc(RATE * seconds * 2);
  for (let at = 0; at < RATE * seconds; at++)
    bytes.writeInt16LE(Math.round(20_000 * Math.sin((2 * Math.PI * hertz * at) / RATE)), at * 2);
  return bytes;
}

function converted(sound: Buffer, chunkBytes: number): Buffer {
  const converter = createRateConverter();
  const chunks: Buffer[] = [];
  for (let at = 0; at < sound.byteLength; at += chunkBytes)
    chunks.push(converter.push(sound.subarray(at, at + chunkBytes)));
  return Buffer.concat([...chunks, converter.end()]);
}

for (const hertz of [100, 1_000, 3_400, 6_000]) {
  test(`providers.live-pacing: openai, a tone of ${hertz} Hz at 16 kHz is the same tone at 24 kHz, neither early nor late`, () => {
    const output = converted(tone(hertz, 1), 3_200);
    assert.equal(output.byteLength, 24_000 * 2);
    // Not the edges, where silence begins and ends.
    for (let at = 100; at < 23_900; at++) {
      const expected = 20_000 * Math.sin((2 * Math.PI * hertz * at) / 24_000);
      assert.ok(Math.abs(output.readInt16LE(at * 2) - expected) < 200, `${at}`);
    }
  });
}

test("providers.live-pacing: openai, the samples do not depend on the size of the chunks", () => {
  const sound = tone(440, 1).subarray(0, 31_998);
  const whole = converted(sound, sound.byteLength);
  assert.equal(whole.byteLength, Math.ceil((31_998 / 2) * 1.5) * 2);
  for (const size of [1, 7, 100, 3_200]) assert.deepEqual(converted(sound, size), whole, `${size}`);
});

test("providers.live-pacing: openai, the loudest samples are clipped, not wrapped", () => {
  const square = Buffer.alloc(3_200);
  for (let at = 0; at < 1_600; at++) square.writeInt16LE(at % 40 < 20 ? 32_767 : -32_768, at * 2);
  const output = converted(square, 320);
  // In the middle of each half of a period.
  for (let period = 2; period < 38; period++) {
    assert.ok(output.readInt16LE((period * 60 + 15) * 2) > 30_000);
    assert.ok(output.readInt16LE((period * 60 + 45) * 2) < -30_000);
  }
});
