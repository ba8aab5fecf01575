// The invariants of transcripts over what an adapter makes of random conversations: times in order and inside the audio, words inside
// segments, speakers S1… by first appearance and stable, channels right, no word lost or changed; captions read back by parsers that are
// not ours.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseSync } from "subtitle";
import type { TranscriptionFields } from "../../src/contract/transcription/transcription-fields.ts";
import type { Segment, Word } from "../../src/contract/transcription/transcription-envelope.ts";
import { type FinishedTranscript, finishTranscript } from "../../src/gateway/transcription/finish-transcript.ts";
import type { ProviderTranscript, SpeechModel, SpeechPlan, SpeechProvider } from "../../src/providers/provider.ts";
import { type Requirements, requiredFeatures } from "../../src/routing/required-features.ts";
import { audioFixture, requestFor } from "../providers/suites/fixtures.ts";
import { type Asked, type Conversation, conversations, idOf, type Spoken, textOf } from "./conversation.ts";
import { holes, withHoles } from "./holes.ts";

export const SEED = 20_261_121;
export const RUNS = 300;

export interface Teller {
  readonly name: string;
  readonly provider: SpeechProvider;
  readonly model: string;
  readonly speech: SpeechModel;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly maxChannels: number;
  readonly wishes: fc.Arbitrary<TranscriptionFields>;
  /** It is asked for a stream. */
  readonly streams?: true;
  readonly reply: (conversation: Conversation, asked: Asked, plan: SpeechPlan) => object | Promise<object>;
  /** It counts channels by what was heard on them: if the last one is silent, its receipt is missing. */
  readonly countsHeardChannels?: true;
}

export const catalogued = (
  provider: SpeechProvider,
  model: string,
): Pick<Teller, "name" | "provider" | "model" | "speech"> => {
  const speech = provider.models[model];
  assert.ok(speech);
  return { name: `${provider.kind}/${model}`, provider, model, speech };
};
export function keepsInvariants(teller: Teller): void {
  test(`transcription.times, transcription.text-preserved, transcription.speakers: ${teller.name}: ${RUNS} conversations keep their words, speakers, channels, order and times`, async () => {
    await check(teller, (conversation, wanted, finished) => {
      assertTimes(finished.words, conversation.durationSeconds);
      assertTimes(finished.segments, conversation.durationSeconds);
      assertWordsInSegments(finished);
      assertSpeakers(finished, wanted);
      assertAgree(conversation, wanted, finished);
      if (wanted.responseFormat !== "srt" && wanted.responseFormat !== "vtt")
        assertText(conversation, wanted, finished);
    });
  });

  test(`captions.nothing-lost: ${teller.name}: ${RUNS} caption files lose nothing in an independent parser`, async () => {
    await check(teller, (conversation, wanted, finished) => {
      if (wanted.responseFormat === "srt") assertCaptions(conversation, readSrt(finished.content), "srt");
      if (wanted.responseFormat === "vtt") assertCaptions(conversation, readVtt(finished.content), "vtt");
    });
  });
}

/** What a provider's lists omit stays in the text, in the segments and in the captions. */
export function keepsTextDespiteHoles(teller: Teller): void {
  test(`transcription.text-preserved: ${teller.name}: ${RUNS} replies whose words or segments have holes or strangers lose nothing of their text`, async () => {
    const judged = { count: 0, withHoles: 0 };
    await fc.assert(
      fc.asyncProperty(
        conversations(teller.maxChannels),
        teller.wishes,
        holes,
        fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 3 }),
        async (drawn, fields, isLost, strangers) => {
          const wanted = requiredFeatures(fields, "transcribe");
          const asked = askedOf(wanted);
          const conversation = asked.multichannel ? drawn : mixedDown(drawn);
          const transcript = await normalised(teller, conversation, wanted, (reply) =>
            withHoles(reply, conversation, isLost, strangers),
          );
          // A list that is missing altogether fails its receipt: the next target is tried.
          if (transcript.receipts.some(({ delivered }) => !delivered)) return;
          const finished = finishTranscript(transcript, wanted, conversation.durationSeconds);
          judged.count++;
          if (conversation.words.some(isLost)) judged.withHoles++;
          assertTimes(finished.words, conversation.durationSeconds);
          assertTimes(finished.segments, conversation.durationSeconds);
          if (wanted.responseFormat !== "srt" && wanted.responseFormat !== "vtt")
            assertText(conversation, wanted, finished, withoutStrangers);
          if (conversation.channels === 1 && ["json", "verbose_json", "diarized_json"].includes(wanted.responseFormat))
            assert.equal(withoutStrangers(finished.content.split(/\s+/u)).join(" "), textOf(conversation.words));
          if (wanted.responseFormat !== "srt" && wanted.responseFormat !== "vtt") return;
          const isSrt = wanted.responseFormat === "srt";
          // Without anything that is timed there is no caption to put a text in.
          if (finished.segments.length === 0) return;
          const cues = isSrt ? readSrt(finished.content) : readVtt(finished.content);
          assertCaptions(conversation, cues, isSrt ? "srt" : "vtt", withoutStrangers);
        },
      ),
      { numRuns: RUNS, seed: SEED },
    );
    assert.ok(judged.withHoles > 0, JSON.stringify(judged));
  });
}

const withoutStrangers = (all: readonly string[]): readonly string[] => all.filter((each) => each !== "stranger");

type Judge = (conversation: Conversation, wanted: Requirements, finished: FinishedTranscript) => void;

async function check(teller: Teller, judge: Judge): Promise<void> {
  await fc.assert(
    fc.asyncProperty(conversations(teller.maxChannels), teller.wishes, async (drawn, fields) => {
      const wanted = requiredFeatures(fields, "transcribe");
      const asked = askedOf(wanted);
      // Unasked, the provider mixes the channels down to one.
      const conversation = asked.multichannel ? drawn : mixedDown(drawn);
      if (teller.countsHeardChannels === true && asked.multichannel)
        fc.pre(conversation.words.some(({ channel }) => channel === conversation.channels - 1));
      judge(conversation, wanted, await transcribed(teller, conversation, wanted));
    }),
    { numRuns: RUNS, seed: SEED },
  );
}

function askedOf({ features }: Requirements): Asked {
  return { diarization: features.includes("diarization"), multichannel: features.includes("multichannel") };
}

function mixedDown(conversation: Conversation): Conversation {
  const words = conversation.words
    .filter(({ channel }) => channel === 0)
    .map((word): Spoken => ({ ...word, channel: 0 }));
  return { ...conversation, channels: 1, words };
}

async function transcribed(
  teller: Teller,
  conversation: Conversation,
  wanted: Requirements,
): Promise<FinishedTranscript> {
  const transcript = await normalised(teller, conversation, wanted);
  assert.deepEqual(
    transcript.receipts.filter(({ delivered }) => !delivered),
    [],
  );
  return finishTranscript(transcript, wanted, conversation.durationSeconds);
}

async function normalised(
  teller: Teller,
  conversation: Conversation,
  wanted: Requirements,
  change: (reply: unknown) => unknown = (reply) => reply,
): Promise<ProviderTranscript> {
  const { provider, model, speech, settings = {} } = teller;
  const asked = askedOf(wanted);
  const request = requestFor(speech, {
    ...asked,
    words: wanted.features.includes("timestamps.word"),
    segments: wanted.wantsSegments,
    ...(teller.streams === true ? { stream: true } : {}),
  });
  const planned = provider.plan(request, { model, speech, settings });
  assert.ok(planned.ok, JSON.stringify(planned));
  const { channels, durationSeconds } = conversation;
  const raw = { body: change(await teller.reply(conversation, asked, planned.plan)), headers: {} };
  return provider.normalise(raw, request, { model, speech, settings }, audioFixture({ channels, durationSeconds }));
}

function assertTimes(pieces: readonly (Word | Segment)[], durationSeconds: number): void {
  const last = new Map<number | null, number>();
  for (const { start, end, channel } of pieces) {
    assert.ok(start >= 0 && start <= end && end <= durationSeconds, `${start}–${end} of ${durationSeconds}`);
    assert.ok(start >= (last.get(channel) ?? 0), "starts never decrease within a channel");
    last.set(channel, start);
  }
}

function assertWordsInSegments({ words, segments }: FinishedTranscript): void {
  if (segments.length === 0) return;
  for (const word of words) {
    const home = segments.find(
      (segment) =>
        segment.channel === word.channel &&
        segment.start <= word.start &&
        word.end <= segment.end &&
        segment.text.split(" ").some((text) => idOf(text) === idOf(word.text)),
    );
    assert.ok(home, `${JSON.stringify(word)} is in no segment`);
    assert.equal(home.speaker, word.speaker);
  }
}

/** By start, then channel: in which the contract counts first appearances. */
function assertSpeakers({ words, segments }: FinishedTranscript, wanted: Requirements): void {
  const pieces = [...segments, ...words].toSorted(
    (one, other) => one.start - other.start || (one.channel ?? 0) - (other.channel ?? 0),
  );
  const labels = [...new Set(pieces.flatMap(({ speaker }) => (speaker === null ? [] : [speaker])))];
  if (!wanted.features.includes("diarization")) return assert.deepEqual(labels, []);
  // Unasked words and segments are counted too; what is shown then keeps its numbers.
  const numbers = labels.map((label) => Number(label.slice(1)));
  assert.deepEqual(
    numbers,
    numbers.toSorted((one, other) => one - other),
  );
  assert.ok(labels.every((label) => /^S[1-9]\d*$/u.test(label)));
}

/** Each word that was said, found again: by whom, where and when. */
function assertAgree(conversation: Conversation, wanted: Requirements, { words }: FinishedTranscript): void {
  const said = new Map(conversation.words.map((word) => [idOf(word.text), word]));
  const labels = new Map<string, string>();
  for (const word of words) {
    const original = said.get(idOf(word.text));
    assert.ok(original, `${word.text} was never said`);
    assert.ok(Math.abs(word.start - original.start) < 0.0011 && Math.abs(word.end - original.end) < 0.0011);
    assert.equal(word.channel, wanted.features.includes("multichannel") ? original.channel : null);
    if (!wanted.features.includes("diarization")) continue;
    assert.ok(word.speaker !== null);
    const who = `${original.channel}/${original.speaker}`;
    assert.equal(labels.get(who) ?? word.speaker, word.speaker, "a speaker keeps the label");
    labels.set(who, word.speaker);
  }
  assert.equal(new Set(labels.values()).size, labels.size, "two speakers never share one");
  if (wanted.wantsWords) assert.equal(words.length, conversation.words.length);
}

function assertText(
  conversation: Conversation,
  wanted: Requirements,
  { content, segments }: FinishedTranscript,
  heard: (all: readonly string[]) => readonly string[] = (all) => all,
): void {
  const plain = wanted.responseFormat === "text" ? content.replace(/^S\d+: /gmu, "") : content;
  assert.deepEqual(heard(tokens(plain)), saidTokens(conversation));
  if (segments.length === 0) return;
  const joined = segments.map(({ text }) => text).join(" ");
  if (wanted.responseFormat !== "text") assert.equal(withoutSpace(joined), withoutSpace(content));
}

interface ReadCue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function assertCaptions(
  conversation: Conversation,
  cues: readonly ReadCue[],
  kind: "srt" | "vtt",
  heard: (all: readonly string[]) => readonly string[] = (all) => all,
): void {
  const durationMs = Math.round(conversation.durationSeconds * 1000);
  let last = 0;
  for (const { start, end } of cues) {
    assert.ok(start >= last && start <= end && end <= durationMs, `${start}–${end} of ${durationMs} after ${last}`);
    last = start;
  }
  const said = saidTokens(conversation).map((text) => (kind === "srt" ? text.replaceAll("-->", "→") : text));
  const shown = cues.flatMap(({ text }) => text.split("\n").flatMap((line) => shownOnLine(heard(wordsOf(line)), said)));
  assert.deepEqual(shown.toSorted(), said.flatMap(partsOf).toSorted());
}

/** A line may end, and the next one begin, where a text without spaces changes its script; inside a line every word is whole. */
function shownOnLine(line: readonly string[], said: readonly string[]): readonly string[] {
  for (const [index, word] of line.entries())
    assert.ok(said.includes(word) || index === 0 || index === line.length - 1, `${word} in ${line.join(" ")}`);
  return line.flatMap(partsOf);
}

/** The tails of made-up words that a caption may put on a line of their own. */
const partsOf = (word: string): readonly string[] => word.split(/(?=漢字)/u);

function readSrt(file: string): readonly ReadCue[] {
  return parseSync(file).map((node) => {
    assert.ok(node.type === "cue");
    return { ...node.data, text: node.data.text.replace(/^S\d+: /u, "") };
  });
}

interface VttNode {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly VttNode[];
}
interface VttParser {
  parse(file: string): {
    readonly cues: readonly { readonly startTime: number; readonly endTime: number; readonly tree: VttNode }[];
    readonly errors: readonly { readonly message: string }[];
  };
}
/** The W3C's own; it has no types, and wants to be given the table of entities. */
const require = createRequire(import.meta.url);
const { WebVTTParser } = require("webvtt-parser") as { WebVTTParser: new (entities: unknown) => VttParser };
const ENTITIES: unknown = require("webvtt-parser/html-entities.json");

function readVtt(file: string): readonly ReadCue[] {
  const { cues, errors } = new WebVTTParser(ENTITIES).parse(file);
  assert.deepEqual(
    errors.filter(({ message }) => message !== "Required end tag missing."),
    [],
    file,
  );
  return cues.map(({ startTime, endTime, tree }) => ({
    start: Math.round(startTime * 1000),
    end: Math.round(endTime * 1000),
    text: textIn(tree),
  }));
}

function textIn(node: VttNode): string {
  return node.type === "text" ? (node.value ?? "") : (node.children ?? []).map(textIn).join("");
}

const wordsOf = (text: string): readonly string[] => text.split(/\s+/u).filter((each) => each !== "");
const tokens = (text: string): readonly string[] => wordsOf(text).toSorted();
const saidTokens = ({ words }: Conversation): readonly string[] => words.map(({ text }) => text).toSorted();
const withoutSpace = (text: string): string => text.replace(/\s+/gu, "");
