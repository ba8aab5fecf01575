// The socket protocols against every way in which a socket can fail, each with its kind: nothing is dispatched before the first
// audio, and a transcript without its end is none.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { WebSocket } from "ws";
import type { FailureKind } from "../../src/providers/io.ts";
import type { SpeechAudio } from "../../src/providers/provider.ts";
import { refusingUrl, socketServer } from "../outbound/loopback.ts";
import { PROVIDER_TEXT, STATUSES } from "./suites/failure-suite.ts";
import { audioFixture, requestFor } from "./suites/fixtures.ts";
import {
  ASSEMBLYAI,
  AUDIO,
  BEGIN,
  DEEPGRAM,
  ELEVENLABS,
  failure,
  OPENAI_LIVE,
  provider,
  refusal,
  type Script,
  say,
  TERMINATION,
  transcript,
  turn,
} from "./suites/socket-suite.ts";
import { targetOf } from "./suites/subject.ts";
import { ioFor } from "./suites/wire-suite.ts";

for (const subject of [DEEPGRAM, ASSEMBLYAI, OPENAI_LIVE, ELEVENLABS]) {
  const { kind } = subject.provider;

  test(`providers.request-content: ${kind}'s socket gets the plan, the credential and the whole audio, and returns the transcript`, async (t) => {
    const finished: unknown[] = [];
    const { url, heard } = await provider(t, {
      onFinish: (client, message) => {
        finished.push(message);
        say(client, subject.messages);
        client.close(1000);
      },
    });
    const { events, transcript: whole } = await transcript(t, subject, new URL("prefix/", url));
    assert.deepEqual(finished, [subject.finish]);
    const [call] = heard;
    assert.ok(call);
    assert.equal(new URL(call.url, url).pathname, `/prefix${subject.path}`);
    assert.deepEqual([call.authorization, call.bytes], [subject.authorization, subject.audioBytes]);
    assert.equal(whole.text, "Hello.");
    assert.deepEqual(
      events.map(({ type }) => type),
      subject.isPlainText === true ? ["text"] : ["text", "segment"],
    );
    // ElevenLabs' sessions report no length.
    assert.equal(whole.providerSeconds, subject === ELEVENLABS ? null : 1);
    assert.ok(whole.receipts.length > 0 && whole.receipts.every(({ delivered }) => delivered));
  });

  for (const [status, expected] of STATUSES) {
    // Nothing was sent that could be worked on.
    const definite: FailureKind = expected === "unknown" ? "server_error" : expected;
    test(`providers.socket-refusal: ${kind}'s socket refused with ${status}: ${definite}, and nothing dispatched`, async (t) => {
      const { url } = await provider(t, { refuse: refusal(status, JSON.stringify(subject.refusal)) });
      let dispatched = 0;
      const error = await failure(t, subject, url, { onDispatch: () => (dispatched += 1) });
      assert.deepEqual([error.kind, error.status, dispatched], [definite, status, 0]);
    });
  }

  test(`providers.failure-message: the reason with which ${kind} closes its socket is kept`, async (t) => {
    const { url } = await provider(t, {
      onAudio: (client) => client.close(1011, "Out of capacity, token abcdefgh1234"),
    });
    const error = await failure(t, subject, url);
    const { status, code, message } = error.provider ?? assert.fail("no reason");
    assert.deepEqual([status, code, message], [101, "close_1011", "Out of capacity, [redacted]"]);
  });

  test(`providers.retry-after: ${kind}'s socket refused with 429 and Retry-After keeps the seconds`, async (t) => {
    const { url } = await provider(t, { refuse: refusal(429, "{}", ["retry-after: 17"]) });
    const error = await failure(t, subject, url);
    assert.deepEqual([error.kind, error.retryAfterSeconds], ["rate_limited", 17]);
  });

  for (const [what, at] of [
    ["no server listens", () => refusingUrl()],
    [
      "the connection is reset before the upgrade",
      (t) => socketServer(t, (s) => s.once("data", () => s.resetAndDestroy())),
    ],
    [
      "the upgrade is answered by nonsense",
      (t) => socketServer(t, (s) => s.once("data", () => s.end("nonsense\r\n\r\n"))),
    ],
  ] as const satisfies readonly (readonly [string, (t: TestContext) => Promise<URL>])[]) {
    test(`providers.socket-refusal: ${kind}'s socket, ${what}: connect`, async (t) => {
      assert.equal((await failure(t, subject, await at(t))).kind, "connect");
    });
  }

  for (const [what, script, expected] of [
    ["cut before any audio", { onOpen: (client) => client.terminate() }, "connect"],
    ["cut after the first audio", { onAudio: (client) => client.terminate() }, "unknown"],
    ["cut instead of an end", { onFinish: (client) => client.terminate() }, "unknown"],
    ["a goodbye before any audio", { onOpen: (client) => client.close(1011, "NET-0000") }, "server_error"],
    ["a goodbye instead of an end", { onFinish: (client) => client.close(1000) }, "unknown"],
    [
      "a goodbye after half of it",
      {
        onFinish: (client) => {
          say(client, subject.messages.slice(0, -1));
          client.close(1011);
        },
      },
      "unknown",
    ],
    ["a message that is no JSON", { onOpen: (client) => client.send(`<html>${PROVIDER_TEXT}`) }, "bad_reply"],
    ["an error as a message", { onFinish: (client) => client.send(JSON.stringify(subject.refusal)) }, "bad_reply"],
    [
      "a message without its fields",
      { onFinish: (client) => say(client, [nameOf(subject.messages.at(-2), subject.typeField)]) },
      "bad_reply",
    ],
  ] as const satisfies readonly (readonly [string, Script, FailureKind])[]) {
    test(`providers.failure-kinds: ${kind}'s socket, ${what}: ${expected}`, async (t) => {
      const { url } = await provider(t, script);
      // A goodbye before any audio can come while the first frame leaves: then the outcome is unknown.
      const silent = audioFixture({ ...AUDIO, open: () => nothingYet() });
      const error = await failure(t, subject, url, what.includes("before any audio") ? { audio: silent } : {});
      assert.equal(error.kind, expected);
    });
  }

  test(`providers.socket-refusal: ${kind}'s socket, an end while audio was still to come: unknown`, async (t) => {
    const { url } = await provider(t, {
      onAudio: (client) => {
        say(client, subject.messages);
        client.close(1000);
      },
    });
    const spoken = async function* () {
      yield new Uint8Array(3_200);
      yield* nothingYet();
    };
    const error = await failure(t, subject, url, { audio: audioFixture({ ...AUDIO, open: spoken }) });
    assert.equal(error.kind, "unknown");
  });

  test(`providers.socket-refusal: ${kind}'s socket, silence after the audio: timeout`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let isOver = false;
    // The silence is timed once the caller waits for the answer: some turns after the provider has heard all.
    const pass = (): void => {
      if (isOver) return;
      t.mock.timers.tick(200);
      setImmediate(pass);
    };
    const { url } = await provider(t, { onFinish: pass });
    const error = await failure(t, subject, url, { idleTimeoutMs: 200, deadlineMs: 3_600_000 });
    isOver = true;
    assert.equal(error.kind, "timeout");
  });

  test(`providers.failure-kinds: ${kind}'s socket, a deadline that passes: timeout`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { url } = await provider(t, { onFinish: () => t.mock.timers.tick(300) });
    assert.equal((await failure(t, subject, url, { deadlineMs: 300 })).kind, "timeout");
  });

  test(`providers.abort: ${kind}'s socket, a caller that hangs up: aborted, and the socket is closed`, async (t) => {
    const caller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const { url } = await provider(t, {
      onAudio: (client) => {
        client.once("close", () => closed.resolve());
        caller.abort();
      },
    });
    assert.equal((await failure(t, subject, url, { signal: caller.signal })).kind, "aborted");
    await closed.promise;
  });
}

/** A message without anything but its type. */
function nameOf(message: unknown, field = "type"): object {
  return { [field]: String(Object(message)[field]) };
}

/** Audio that does not come as long as the connection is open. */
async function* nothingYet(): AsyncGenerator<Uint8Array> {
  await new Promise<never>(() => undefined);
  yield new Uint8Array(0);
}

for (const [code, reason, expected] of [
  [1008, "Unauthorized Connection: Missing Authorization header", "unauthorized"],
  [1008, "Unauthorized Connection: Too many concurrent sessions", "rate_limited"],
  [1008, "Unauthorized Connection: insufficient account balance", "payment"],
  [3009, "Unauthorized Connection: Too many concurrent sessions", "rate_limited"],
] as const) {
  for (const [how, send] of [
    ["as a goodbye", (client: WebSocket) => client.close(code, reason)],
    [
      "as a message before it",
      (client: WebSocket) => {
        say(client, [{ type: "Error", error_code: code, error: reason }]);
        client.close(code, "See Error message for details");
      },
    ],
  ] as const) {
    test(`providers.failure-kinds: assemblyai closes with ${code} ${reason.slice(25)} ${how}: ${expected}`, async (t) => {
      const { url } = await provider(t, { onOpen: send });
      assert.equal((await failure(t, ASSEMBLYAI, url)).kind, expected);
    });
  }
}

for (const [code, expected] of [
  [3005, "server_error"],
  [3006, "rejected"],
  [3007, "rejected"],
  [3008, "server_error"],
] as const) {
  test(`providers.failure-kinds: assemblyai sends ${code} as a message: ${expected}`, async (t) => {
    const error = { type: "Error", error_code: code, error: PROVIDER_TEXT };
    const { url } = await provider(t, { onFinish: (client) => say(client, [error]) });
    assert.equal((await failure(t, ASSEMBLYAI, url)).kind, expected);
  });
}

test("providers.live-turns: assemblyai, speakers, word times in seconds, language and id are those of the turns", async (t) => {
  const { url } = await provider(t, {
    onFinish: (client) =>
      say(client, [
        BEGIN,
        turn({ turn_is_formatted: false, transcript: "hello", speaker_label: "A" }),
        turn({ speaker_label: "A", language_code: "de", language_confidence: 0.9 }),
        turn({
          turn_order: 1,
          transcript: "Yes.",
          speaker_label: "B",
          words: [{ text: "Yes.", start: 600, end: 900, confidence: 0.8, word_is_final: true, speaker: "B" }],
        }),
        TERMINATION,
      ]),
  });
  const wishes = { diarization: true, words: true, segments: true };
  const { events, transcript: whole } = await transcript(t, ASSEMBLYAI, url, { wishes });
  assert.equal(whole.text, "Hello. Yes.");
  assert.deepEqual(
    events.flatMap((event) => (event.type === "text" ? [event.text] : [])),
    ["Hello.", " Yes."],
  );
  assert.deepEqual(
    whole.words.map(({ text, start, end, speaker }) => [text, start, end, speaker]),
    [
      ["Hello.", 0.1, 0.4, "A"],
      ["Yes.", 0.6, 0.9, "B"],
    ],
  );
  assert.deepEqual(
    whole.segments.map(({ text, start, speaker }) => [text, start, speaker]),
    [
      ["Hello.", 0.1, "A"],
      ["Yes.", 0.6, "B"],
    ],
  );
  assert.deepEqual([whole.language, whole.languageConfidence, whole.providerRequestId], ["de", 0.9, "s-1"]);
});

test("providers.live-turns: assemblyai, a turn that ended and was never formatted is returned too, once and in its place", async (t) => {
  const { url } = await provider(t, {
    onFinish: (client) =>
      say(client, [
        BEGIN,
        turn({ end_of_turn: false, turn_is_formatted: false, transcript: "on" }),
        turn({ turn_is_formatted: false, transcript: "one" }),
        turn({ turn_order: 1, transcript: "Two." }),
        { type: "Heartbeat", total_audio_received_ms: 1 },
        turn({ turn_order: 2, turn_is_formatted: false, transcript: "three" }),
        TERMINATION,
      ]),
  });
  const { events, transcript: whole } = await transcript(t, ASSEMBLYAI, url);
  assert.equal(whole.text, "one Two. three");
  assert.equal(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join(""), whole.text);
});

test("providers.receipts: assemblyai, missing speakers are diarization not delivered; terms are proven by their parameter", async (t) => {
  const { url } = await provider(t, { onFinish: (client) => say(client, ASSEMBLYAI.messages) });
  const { transcript: whole } = await transcript(t, ASSEMBLYAI, url, {
    wishes: { diarization: true, keyterms: ["Patchbay"] },
  });
  assert.deepEqual(
    whole.receipts.map(({ feature, grade, delivered }) => `${feature} ${grade} ${delivered ? "yes" : "no"}`),
    ["diarization shown no", "keyterms sent yes", "streaming shown yes"],
  );
});

for (const [what, chunks] of [
  ["crumbs", Array.from({ length: 321 }, () => 100)],
  ["all at once", [32_100]],
  ["odd pieces", [1, 4_999, 7, 27_093]],
] as const) {
  test(`providers.live-pacing: assemblyai, audio that comes as ${what} is sent in frames of 50 to 1000 ms, whole`, async (t) => {
    const sizes: number[] = [];
    const bytes: Buffer[] = [];
    const server = await provider(t, {
      onOpen: (client) =>
        client.on("message", (data: Buffer, isBinary) => {
          if (!isBinary) return say(client, ASSEMBLYAI.messages);
          sizes.push(data.byteLength);
          bytes.push(data);
        }),
    });
    const sound = Buffer.from(Array.from({ length: 32_100 }, (_, index) => (index * 7) % 251));
    const audio: SpeechAudio = {
      ...AUDIO,
      open: async function* () {
        let at = 0;
        for (const size of chunks) yield sound.subarray(at, (at += size));
      },
    };
    await transcript(t, ASSEMBLYAI, server.url, { audio });
    assert.ok(
      sizes.every((size) => size >= 1_600 && size <= 32_000 && size % 2 === 0),
      sizes.join(" "),
    );
    const sent = Buffer.concat(bytes);
    assert.deepEqual(sent.subarray(0, sound.byteLength), sound);
    assert.ok(sent.subarray(sound.byteLength).every((byte) => byte === 0));
  });
}

test("providers.live-pacing: assemblyai, a recording is sent no faster than it is spoken, except for its first second", async (t) => {
  const { url, heard } = await provider(t, { onFinish: (client) => say(client, ASSEMBLYAI.messages) });
  const pauses: number[] = [];
  const io = ioFor(t, url);
  const { golden, provider: adapter } = ASSEMBLYAI;
  assert.ok(golden && adapter.stream);
  const { speech, target } = targetOf(adapter, golden);
  const planned = adapter.plan(requestFor(speech, {}), target);
  assert.ok(planned.ok);
  const audio: SpeechAudio = {
    ...AUDIO,
    open: async function* () {
      yield new Uint8Array(32_000 * 4);
    },
  };
  const pause = async (milliseconds: number): Promise<void> => void pauses.push(milliseconds);
  for await (const event of adapter.stream(planned.plan, audio, { ...io, pause })) assert.ok(event);
  assert.equal(heard[0]?.bytes, 32_000 * 4);
  // Frames were not paced here, so each one after the first second has to wait longer than the one before.
  assert.ok(
    pauses.length >= 25 && pauses.every((each, index) => each > 0 && (index < 20 || each > 1_000)),
    pauses.join(" "),
  );
});
