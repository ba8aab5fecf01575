// The sockets' failures over every model that streams over one, simulated ones included. One server and one connection pool for all of
// them; deadlines pass because their clock is moved.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebSocket } from "ws";
import { assemblyai } from "../../src/providers/assemblyai/assemblyai.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/elevenlabs.ts";
import { deepgram } from "../../src/providers/deepgram/deepgram.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import type { FailureKind, ProviderError } from "../../src/providers/io.ts";
import type { SpeechProvider } from "../../src/providers/provider.ts";
import { sandbox } from "../../src/providers/sandbox/sandbox.ts";
import { PROVIDER_TEXT, STATUSES } from "./suites/failure-suite.ts";
import type { GoldenModel } from "./suites/fixtures.ts";
import { ASSEMBLYAI_STREAMING_GOLDEN } from "./golden/assemblyai.ts";
import { DEEPGRAM_GOLDEN } from "./golden/deepgram.ts";
import { OPENAI_LIVE_GOLDEN } from "./golden/openai.ts";
import { ELEVENLABS_STREAMING_GOLDEN } from "./golden/elevenlabs.ts";
import { SANDBOX_GOLDEN } from "./golden/simulated.ts";
import {
  ASSEMBLYAI,
  DEEPGRAM,
  ELEVENLABS,
  failure,
  OPENAI_LIVE,
  provider,
  refusal,
  type Script,
  type Subject,
  say,
  transcript,
} from "./suites/socket-suite.ts";
import { outboundFor } from "./suites/wire-suite.ts";

const streaming = (adapter: SpeechProvider, all: readonly GoldenModel[], like: Subject): readonly Subject[] =>
  all
    .filter(({ features }) => features.streaming !== undefined)
    .map((golden) => ({ ...like, provider: adapter, golden }));
const startsWith = (prefix: string): readonly GoldenModel[] =>
  SANDBOX_GOLDEN.filter(({ model }) => model.startsWith(prefix));

const SUBJECTS = [
  ...streaming(deepgram, DEEPGRAM_GOLDEN, DEEPGRAM),
  ...streaming(assemblyai, ASSEMBLYAI_STREAMING_GOLDEN, ASSEMBLYAI),
  ...streaming(openai, OPENAI_LIVE_GOLDEN, OPENAI_LIVE),
  ...streaming(sandbox, [...startsWith("simulated-speech"), ...startsWith("deepgram/")], DEEPGRAM),
  ...streaming(elevenlabs, ELEVENLABS_STREAMING_GOLDEN, ELEVENLABS),
  ...streaming(sandbox, startsWith("assemblyai/"), ASSEMBLYAI),
  ...streaming(sandbox, [...startsWith("openai/gpt-live-"), ...startsWith("openai/gpt-realtime-")], OPENAI_LIVE),
  ...streaming(sandbox, startsWith("elevenlabs/"), ELEVENLABS),
];
const DEADLINE_MS = 10_000;

/** Types that no documentation has, with contents that would be an error in another message, and what is no message at all. */
const UNKNOWN: readonly unknown[] = [
  { type: "SomethingNew", error: "model_deprecated", err_code: "NEW", err_msg: "new", error_code: 4000, detail: "new" },
  { type: "committed_transcript_entities", transcript: 7, words: "none", end_of_turn: "no" },
  { message_type: "final_transcript", text: "Not this protocol's." },
  { message_type: "something_new", error: "model_deprecated", text: 7, words: "none" },
  { type: 7 },
  {},
  [],
  ["Results"],
  "text",
  7,
  null,
];

for (const subject of SUBJECTS) {
  test(`providers.unknown-messages: ${subject.provider.kind}/${subject.golden?.model}'s socket, messages of unknown types at any moment end nothing and change nothing`, async (t) => {
    const speak = (client: WebSocket): void => {
      for (const message of UNKNOWN) client.send(JSON.stringify(message));
    };
    const { url } = await provider(t, {
      onOpen: speak,
      onAudio: speak,
      onFinish: (client) => {
        for (const message of subject.messages) {
          speak(client);
          say(client, [message]);
        }
        client.close(1000);
      },
    });
    const { transcript: whole } = await transcript(t, subject, url);
    assert.equal(whole.text, "Hello.");
  });
}

test("providers.unknown-messages: deepgram, KeytermsNotSupported is a warning after which the stream continues", async (t) => {
  const { url } = await provider(t, {
    onFinish: (client) => {
      const error = { type: "Error", code: "KeytermsNotSupported", description: PROVIDER_TEXT, err_code: "SOME_CODE" };
      say(client, [error, ...DEEPGRAM.messages]);
      client.close(1000);
    },
  });
  assert.equal((await transcript(t, DEEPGRAM, url)).transcript.text, "Hello.");
});

test("providers.failure-kinds: every model that streams over a socket fails as the first of its provider does", async (t) => {
  let script: Script = {};
  const { url } = await provider(t, () => script);
  const outbound = outboundFor(t);
  assert.ok(SUBJECTS.length > 10);

  for (const subject of SUBJECTS) {
    const name = `${subject.provider.kind}/${subject.golden?.model}`;
    await t.test(
      `providers.failure-kinds: ${name}'s socket, each status, cut, error, slow end and abort`,
      async (each) => {
        const caller = new AbortController();
        const ask = async (what: string, expected: FailureKind, played: Script): Promise<ProviderError> => {
          script = played;
          const options = { outbound, deadlineMs: DEADLINE_MS, signal: caller.signal };
          const error = await failure(each, subject, url, options);
          assert.equal(error.kind, expected, what);
          return error;
        };

        const refused = JSON.stringify(subject.refusal);
        for (const [status, expected] of STATUSES) {
          // Nothing was sent that could be worked on.
          const definite = expected === "unknown" ? "server_error" : expected;
          assert.equal((await ask(String(status), definite, { refuse: refusal(status, refused) })).status, status);
        }
        const limited = await ask("429", "rate_limited", { refuse: refusal(429, "{}", ["retry-after: 17"]) });
        assert.equal(limited.retryAfterSeconds, 17);

        await ask("a cut", "unknown", { onAudio: (client) => client.terminate() });
        await ask("no end", "unknown", { onFinish: (client) => client.close(1000) });
        await ask("half of it", "unknown", {
          onFinish: (client) => {
            say(client, subject.messages.slice(0, -1));
            client.close(1011);
          },
        });
        await ask("an error", "bad_reply", { onFinish: (client) => say(client, [subject.refusal]) });
        await ask("no JSON", "bad_reply", { onFinish: (client) => client.send(`<html>${PROVIDER_TEXT}`) });

        each.mock.timers.enable({ apis: ["setTimeout"] });
        await ask("no answer", "timeout", { onFinish: () => each.mock.timers.tick(DEADLINE_MS) });
        each.mock.timers.reset();

        await ask("the caller gone", "aborted", { onAudio: () => caller.abort() });
      },
    );
  }
});
