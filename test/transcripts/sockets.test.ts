// The transcript invariants over what comes through a socket, and that what is reported while it is made adds up to the transcript.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { assemblyai } from "../../src/providers/assemblyai/assemblyai.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/elevenlabs.ts";
import { deepgram } from "../../src/providers/deepgram/deepgram.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import type { StreamingIo } from "../../src/providers/io.ts";
import type { SpeechEvent, SpeechPlan, SpeechProvider } from "../../src/providers/provider.ts";
import { audioFixture, requestFor } from "../providers/suites/fixtures.ts";
import { type Asked, type Conversation, conversations } from "./conversation.ts";
import { catalogued, keepsInvariants, RUNS, SEED, type Teller } from "./invariants.ts";
import {
  assemblyAiMessages,
  deepgramMessages,
  elevenLabsMessages,
  openAiMessages,
  playing,
} from "./socket-conversation.ts";
import { anything, plainText, speakersAndTimes, timesOnly } from "./wishes.ts";

type Messages = (conversation: Conversation, asked: Asked) => readonly object[];

/** Every event, up to the end. */
async function readAll(provider: SpeechProvider, plan: SpeechPlan, messages: readonly object[]) {
  assert.ok(provider.stream);
  const audio = audioFixture({ samplesPerSecond: 16_000 });
  const pieces: SpeechEvent[] = [];
  const io = playing(messages, provider.kind === "openai" ? 2 : 1) as StreamingIo;
  for await (const event of provider.stream(plan, audio, io)) {
    if (event.type === "end") return { pieces, body: event.raw.body as object };
    pieces.push(event);
  }
  return assert.fail("no end");
}

function overSocket(
  provider: SpeechProvider,
  model: string,
  messages: Messages,
  how: Pick<Teller, "maxChannels" | "wishes">,
): Teller {
  const known = catalogued(provider, model);
  return {
    ...known,
    ...how,
    name: `${known.name} over a socket`,
    streams: true,
    reply: async (conversation, asked, plan) => (await readAll(provider, plan, messages(conversation, asked))).body,
  };
}

const MODELS: readonly (readonly [Teller, Messages])[] = [
  [overSocket(deepgram, "nova-3", deepgramMessages, { maxChannels: 3, wishes: anything }), deepgramMessages],
  [
    overSocket(assemblyai, "universal-streaming-english", assemblyAiMessages, {
      maxChannels: 1,
      wishes: speakersAndTimes,
    }),
    assemblyAiMessages,
  ],
  [overSocket(openai, "gpt-live-transcribe", openAiMessages, { maxChannels: 1, wishes: plainText }), openAiMessages],
  [
    overSocket(elevenlabs, "scribe_v2_realtime", elevenLabsMessages, { maxChannels: 1, wishes: timesOnly }),
    elevenLabsMessages,
  ],
];

for (const [teller, messages] of MODELS) {
  keepsInvariants(teller);

  test(`transcription.stream-whole: ${teller.name}: what is reported of ${RUNS} conversations while they are transcribed adds up to the transcript`, async () => {
    const { provider, model, speech } = teller;
    await fc.assert(
      fc.asyncProperty(conversations(1), fc.boolean(), async (conversation, isDiarized) => {
        const hasTimes = speech.features["timestamps.word"] !== undefined;
        const diarization = isDiarized && speech.features.diarization !== undefined;
        const features = hasTimes ? { segments: true, words: true, diarization } : {};
        const request = requestFor(speech, { stream: true, ...features });
        const target = { model, speech, settings: {} };
        const planned = provider.plan(request, target);
        assert.ok(planned.ok);
        const asked = { diarization, multichannel: false };
        const { pieces, body } = await readAll(provider, planned.plan, messages(conversation, asked));
        const { durationSeconds } = conversation;
        const whole = provider.normalise({ body, headers: {} }, request, target, audioFixture({ durationSeconds }));
        const texts = pieces.flatMap((each) => (each.type === "text" ? [each.text] : []));
        const segments = pieces.flatMap((each) => (each.type === "segment" ? [each.segment] : []));
        assert.equal(texts.join(""), whole.text);
        assert.deepEqual(segments.map(unsure), whole.segments.map(unsure));
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
}

const unsure = (segment: object): object => ({ ...segment, confidence: null });
