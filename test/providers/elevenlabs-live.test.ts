// ElevenLabs' live sessions: audio is committed by the client, each commit is answered twice, and nothing but the last answer ends a session.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebSocket } from "ws";
import type { FailureKind } from "../../src/providers/io.ts";
import type { SpeechAudio } from "../../src/providers/provider.ts";
import { PROVIDER_TEXT } from "./suites/failure-suite.ts";
import { audioFixture } from "./suites/fixtures.ts";
import {
  AUDIO,
  committedText,
  ELEVENLABS,
  failure,
  provider,
  type Script,
  SESSION_STARTED,
  say,
  spoken,
  transcript,
  withTimes,
} from "./suites/socket-suite.ts";

interface Chunk {
  readonly audio_base_64: string;
  readonly commit: boolean;
}

/** A server that answers each commit by its number, and is told which one is the last. */
function answering(answer: (client: WebSocket, commit: number, isLast: boolean) => void): Script & { chunks: Chunk[] } {
  const chunks: Chunk[] = [];
  let commits = 0;
  return {
    chunks,
    onOpen: (client) => {
      say(client, [SESSION_STARTED]);
      client.on("message", (data: Buffer) => {
        const chunk = JSON.parse(data.toString()) as Chunk;
        chunks.push(chunk);
        if (chunk.commit) answer(client, ++commits, chunk.audio_base_64 === "");
      });
    },
  };
}

const SPEECH = 8_000;
/** 16 kHz samples: seconds of a loud and of a silent part, one after the other. */
function recording(...parts: readonly (readonly [level: number, seconds: number])[]): SpeechAudio {
  const samples = parts.flatMap(([level, seconds]) => Array.from({ length: seconds * 16_000 }, () => level));
  const bytes = Buffer.from(Int16Array.from(samples).buffer);
  return audioFixture({
    durationSeconds: samples.length / 16_000,
    live: "pcm_s16le",
    open: async function* () {
      for (let at = 0; at < bytes.byteLength; at += 3_200) yield bytes.subarray(at, at + 3_200);
    },
  });
}

const TWO_UTTERANCES = recording([SPEECH, 2], [0, 1], [SPEECH, 1]);

test("providers.live-commits: a pause commits what was said, and the session is complete with the answer to the last commit", async (t) => {
  const script = answering((client, commit) => {
    const text = commit === 1 ? "One." : "Two.";
    say(client, [
      { message_type: "partial_transcript", text: "on" },
      { message_type: "final_transcript", text },
      { message_type: "final_transcript_with_timestamps", text, words: [] },
      committedText(text),
      withTimes(
        text,
        [{ text: " ", start: 0, end: 0, type: "spacing", logprob: 0 }, spoken(text, commit, commit + 0.5)],
        {
          language_code: "deu",
        },
      ),
      { message_type: "committed_transcript_entities", text, entities: [] },
    ]);
  });
  const { url, heard } = await provider(t, script);
  const { events, transcript: whole } = await transcript(t, ELEVENLABS, url, {
    audio: TWO_UTTERANCES,
    skipsPauses: true,
    wishes: { words: true, segments: true, language: { kind: "detect" } },
  });
  assert.deepEqual(
    script.chunks.filter(({ commit }) => commit).map(({ audio_base_64: audio }) => audio === ""),
    [false, true],
  );
  assert.equal(heard[0]?.bytes, 4 * 32_000);
  assert.equal(new URL(heard[0]?.url ?? "", url).searchParams.get("audio_format"), "pcm_16000");
  assert.deepEqual(
    events.flatMap((event) => (event.type === "text" ? [event.text] : [])),
    ["One.", " Two."],
  );
  assert.equal(whole.text, "One. Two.");
  const timesOf = (pieces: typeof whole.words) => pieces.map(({ text, start, end }) => [text, start, end]);
  assert.deepEqual(timesOf(whole.words), [
    ["One.", 1, 1.5],
    ["Two.", 2, 2.5],
  ]);
  assert.deepEqual(timesOf(whole.segments), timesOf(whole.words));
  assert.deepEqual([whole.language, whole.providerRequestId, whole.words[0]?.confidence], ["de", "s-1", 1]);
  assert.deepEqual(
    whole.receipts.map(({ feature, delivered }) => [feature, delivered]),
    [
      ["timestamps.word", true],
      ["timestamps.segment", true],
      ["streaming", true],
      ["language", true],
      ["model", true],
    ],
  );
});

const HELLO = [committedText("Hello."), withTimes("Hello.", [spoken("Hello.", 0.1, 0.4)])];
const END = [committedText("End."), withTimes("End.", [spoken("End.", 2, 3)])];

for (const [what, answers] of [
  ["times come before the text", [HELLO.toReversed(), END.toReversed()]],
  ["silence is answered by an empty text without times", [[...HELLO, ...END], [committedText("")]]],
  [
    "silence is answered by empty times too",
    [
      [...HELLO, ...END],
      [committedText(""), withTimes("", [])],
    ],
  ],
  ["the answers to both commits come after the last", [[], [...HELLO, ...END]]],
  ["the text of both comes before their times", [[], [HELLO[0], END[0], HELLO[1], END[1]]]],
  [
    "a warning about silence is no answer",
    [[{ message_type: "insufficient_audio_activity", error: PROVIDER_TEXT }], [...HELLO, ...END]],
  ],
] as const) {
  test(`providers.live-commits: the transcript is whole where ${what}`, async (t) => {
    const script = answering((client, commit) => {
      for (const message of answers[commit - 1] ?? []) say(client, [message ?? {}]);
    });
    const { url } = await provider(t, script);
    const { events, transcript: whole } = await transcript(t, ELEVENLABS, url, {
      audio: TWO_UTTERANCES,
      skipsPauses: true,
    });
    assert.equal(whole.text, "Hello. End.");
    assert.equal(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join(""), whole.text);
  });
}

for (const [what, last] of [
  ["the last commit is not answered", []],
  ["the last text comes without its times", [END[0] ?? {}]],
] as const) {
  test(`providers.live-commits: a session that is closed while ${what} is no transcript`, async (t) => {
    const script = answering((client, _commit, isLast) => {
      say(client, isLast ? last : HELLO);
      if (isLast) client.close(1000);
    });
    const { url } = await provider(t, script);
    const error = await failure(t, ELEVENLABS, url, { audio: TWO_UTTERANCES, skipsPauses: true });
    assert.deepEqual([error.kind, error.reason], ["unknown", "close_1000"]);
  });
}

const THROTTLED = { message_type: "commit_throttled", error: PROVIDER_TEXT };

test("providers.live-commits: a commit that is refused is part of the next one", async (t) => {
  // The rest is spoken when the refusal has arrived.
  const refused = Promise.withResolvers<void>();
  const audio: SpeechAudio = {
    ...TWO_UTTERANCES,
    open: async function* () {
      let seconds = 0;
      for await (const chunk of TWO_UTTERANCES.open()) {
        if (seconds > 3.5) await refused.promise;
        seconds += chunk.byteLength / 32_000;
        yield chunk;
      }
    },
  };
  const script = answering((client, _commit, isLast) => {
    if (isLast) return say(client, HELLO);
    say(client, [THROTTLED]);
    client.once("pong", () => refused.resolve());
    client.ping();
  });
  const { url } = await provider(t, script);
  const { transcript: whole } = await transcript(t, ELEVENLABS, url, { audio, skipsPauses: true });
  assert.equal(whole.text, "Hello.");
});

test("providers.live-commits: a last commit that is refused is no transcript", async (t) => {
  const { url } = await provider(
    t,
    answering((client, _commit, isLast) => say(client, isLast ? [THROTTLED] : HELLO)),
  );
  const error = await failure(t, ELEVENLABS, url, { audio: TWO_UTTERANCES, skipsPauses: true });
  assert.deepEqual([error.kind, error.reason], ["unknown", "commit_throttled"]);
});

test("providers.live-pacing: elevenlabs receives all of the audio in frames of 50 to 1000 ms, and never commits less than 0.3 s", async (t) => {
  const script = answering((client) => say(client, HELLO));
  const { url } = await provider(t, script);
  const odd: SpeechAudio = {
    ...AUDIO,
    open: async function* () {
      for (const size of [1, 4_999, 7, 993]) yield new Uint8Array(size).fill(1);
    },
  };
  await transcript(t, ELEVENLABS, url, { audio: odd });
  const sizes = script.chunks.map(({ audio_base_64: audio }) => Buffer.from(audio, "base64").byteLength);
  assert.equal(sizes.at(-1), 0);
  assert.ok(
    sizes.slice(0, -1).every((size) => size >= 1_600 && size <= 32_000 && size % 2 === 0),
    sizes.join(" "),
  );
  const sent = Buffer.concat(script.chunks.map(({ audio_base_64: audio }) => Buffer.from(audio, "base64")));
  assert.ok(sent.subarray(0, 6_000).every((byte) => byte === 1));
  assert.ok(sent.subarray(6_000).every((byte) => byte === 0));
  assert.ok(sent.byteLength >= 0.3 * 32_000);
});

test("providers.live-pacing: elevenlabs is sent a little silence when nothing is spoken, before it closes an idle session", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const finished = Promise.withResolvers<void>();
  const kept = Promise.withResolvers<Chunk>();
  let chunks = 0;
  const { url } = await provider(t, {
    onOpen: (client) =>
      client.on("message", (data: Buffer) => {
        const chunk = JSON.parse(data.toString()) as Chunk;
        chunks += 1;
        if (chunks === 1) setImmediate(() => t.mock.timers.tick(5_000));
        if (chunks === 2) kept.resolve(chunk);
        if (chunk.commit) say(client, HELLO);
      }),
  });
  const audio: SpeechAudio = {
    ...AUDIO,
    open: async function* () {
      yield new Uint8Array(3_200).fill(1);
      await finished.promise;
    },
  };
  const whole = transcript(t, ELEVENLABS, url, { audio });
  const { audio_base_64: sent, commit } = await kept.promise;
  finished.resolve();
  assert.deepEqual([Buffer.from(sent, "base64"), commit], [Buffer.alloc(1_600), false]);
  assert.equal((await whole).transcript.text, "Hello.");
});

test("providers.socket-refusal: elevenlabs, samples of a rate that the socket does not accept are refused before it is opened", async (t) => {
  const { url, heard } = await provider(t, {});
  const error = await failure(t, ELEVENLABS, url, { audio: { ...AUDIO, samplesPerSecond: 11_025 } });
  assert.deepEqual([error.kind, error.reason, heard.length], ["rejected", "sample_rate", 0]);
});

for (const [type, expected] of [
  ["auth_error", "unauthorized"],
  ["unaccepted_terms", "unauthorized"],
  ["quota_exceeded", "payment"],
  ["rate_limited", "rate_limited"],
  ["queue_overflow", "rate_limited"],
  ["resource_exhausted", "rate_limited"],
  ["invalid_request", "rejected"],
  ["input_error", "rejected"],
  ["chunk_size_exceeded", "rejected"],
  ["session_time_limit_exceeded", "server_error"],
  ["transcriber_error", "server_error"],
  ["error", "server_error"],
] as const satisfies readonly (readonly [string, FailureKind])[]) {
  test(`providers.failure-kinds, providers.failure-message: elevenlabs' ${type} is ${expected}, as a message and as the reason of a close`, async (t) => {
    const message = await provider(t, {
      onOpen: (client) => {
        say(client, [{ message_type: type, error: "Out of capacity, token abcdefgh1234" }]);
        client.close(1008, "See the message");
      },
    });
    const error = await failure(t, ELEVENLABS, message.url);
    assert.deepEqual([error.kind, error.reason], [expected, type]);
    assert.deepEqual([error.provider?.code, error.provider?.message], [type, "Out of capacity, [redacted]"]);
    const close = await provider(t, { onOpen: (client) => client.close(1008, type) });
    assert.equal((await failure(t, ELEVENLABS, close.url)).kind, expected);
  });
}

test("providers.failure-kinds: elevenlabs' refusal of a model is not_found", async (t) => {
  const error =
    "The model_id 'scribe_v9' is invalid. Supported models: 'scribe_v2_realtime', 'scribe_v2_realtime_turbo', 'scribe_v2_realtime_lite'.";
  const { url } = await provider(t, {
    onOpen: (client) => {
      say(client, [{ message_type: "invalid_request", error }]);
      client.close(1008, "invalid_request");
    },
  });
  const failed = await failure(t, ELEVENLABS, url);
  assert.deepEqual([failed.kind, failed.provider?.message], ["not_found", error]);
});

for (const [what, config, expected] of [
  ["another model", { model_id: "scribe_v3_live" }, [{ delivered: false, answered: "scribe_v3_live" }]],
  ["the asked model", { model_id: "scribe_v2_realtime" }, [{ delivered: true, answered: "scribe_v2_realtime" }]],
  ["no model", {}, []],
  ["a configuration of another form", 7, []],
  ["no configuration", null, []],
] as const) {
  test(`providers.answered-model: elevenlabs, a session that starts with ${what} is judged only by what it reports`, async (t) => {
    const { url } = await provider(t, {
      onFinish: (client) => say(client, [{ message_type: "session_started", session_id: 7, config }, ...HELLO]),
    });
    const { transcript: whole } = await transcript(t, ELEVENLABS, url);
    const receipts = whole.receipts.filter(({ feature }) => feature === "model");
    assert.deepEqual(
      receipts,
      expected.map((each) => ({ feature: "model", grade: "echoed", isTolerated: true, ...each })),
    );
    assert.equal(whole.providerRequestId, null);
  });
}

for (const [what, keyterms, isDelivered] of [
  ["repeats them", ["Patchbay"], true],
  ["repeats others", ["Other"], false],
  ["repeats none", undefined, true],
] as const) {
  test(`providers.receipts: elevenlabs, key terms are ${isDelivered ? "" : "not "}delivered by a session that ${what}`, async (t) => {
    const { url } = await provider(t, {
      onFinish: (client) => say(client, [{ ...SESSION_STARTED, config: { keyterms } }, ...HELLO]),
    });
    const { transcript: whole } = await transcript(t, ELEVENLABS, url, { wishes: { keyterms: ["Patchbay"] } });
    assert.equal(whole.receipts.find(({ feature }) => feature === "keyterms")?.delivered, isDelivered);
  });
}
