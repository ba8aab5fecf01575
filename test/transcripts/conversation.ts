// Conversations made up at random, and each provider's way of reporting one: the replies that the transcript invariants are
// held against. Every word is a different one, so that it can be found again in what comes out.
import * as fc from "fast-check";

export interface Spoken {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
  readonly channel: number;
  readonly confidence: number;
}
export interface Conversation {
  readonly channels: number;
  /** Per channel in order of time. */
  readonly words: readonly Spoken[];
  readonly durationSeconds: number;
}

/** What trips caption files and careless joins. */
const TAILS = ["", ".", "?", ",", "!", "é", "漢字", "<b>", "&amp;", "-->", "'s", "…"];

export function conversations(maxChannels: number): fc.Arbitrary<Conversation> {
  const word = fc.record({
    // Often none: audio that begins with a word, and words that touch.
    gapMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })),
    lengthMs: fc.integer({ min: 1, max: 1_500 }),
    speaker: fc.integer({ min: 0, max: 2 }),
    channel: fc.integer({ min: 0, max: maxChannels - 1 }),
    tail: fc.constantFrom(...TAILS),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  return fc
    .record({
      channels: fc.integer({ min: 1, max: maxChannels }),
      items: fc.array(word, { maxLength: 40 }),
      tailMs: fc.integer({ min: 1, max: 5_000 }),
    })
    .map(({ channels, items, tailMs }) => {
      const atMs = new Map<number, number>();
      const words = items.map(({ gapMs, lengthMs, speaker, channel: drawn, tail, confidence }, index) => {
        const channel = drawn % channels;
        const startMs = (atMs.get(channel) ?? 0) + gapMs;
        atMs.set(channel, startMs + lengthMs);
        const times = { start: startMs / 1000, end: (startMs + lengthMs) / 1000 };
        return { text: `w${index}${tail}`, ...times, speaker, channel, confidence };
      });
      const lastMs = Math.max(0, ...atMs.values());
      return { channels, words, durationSeconds: (lastMs + tailMs) / 1000 };
    });
}

/** What a word is found again by, with or without what hangs on it. */
export function idOf(text: string): string {
  return /w\d+/u.exec(text)?.[0] ?? text;
}

export interface Turn {
  readonly words: readonly Spoken[];
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
  readonly channel: number;
}

export const byStart = <P extends { readonly start: number; readonly channel: number }>(
  pieces: readonly P[],
): readonly P[] => pieces.toSorted((one, other) => one.start - other.start || one.channel - other.channel);
export const textOf = (words: readonly Spoken[]): string => words.map(({ text }) => text).join(" ");
export const channelsOf = ({ words, channels }: Conversation): readonly (readonly Spoken[])[] =>
  Array.from({ length: channels }, (_, channel) => words.filter((word) => word.channel === channel));

/** One per speaker and turn, within a channel. */
export function turnsOf(conversation: Conversation): readonly Turn[] {
  const turns = channelsOf(conversation).flatMap((words) => {
    const groups: Spoken[][] = [];
    for (const word of words) {
      const last = groups.at(-1);
      if (last?.[0]?.speaker === word.speaker) last.push(word);
      else groups.push([word]);
    }
    return groups.map((group) => ({
      words: group,
      text: textOf(group),
      start: group[0]?.start ?? 0,
      end: group.at(-1)?.end ?? 0,
      speaker: group[0]?.speaker ?? 0,
      channel: group[0]?.channel ?? 0,
    }));
  });
  return byStart(turns);
}

export interface Asked {
  readonly diarization: boolean;
  readonly multichannel: boolean;
}

export function asDeepgram(conversation: Conversation, asked: Asked): object {
  const speakerOf = (speaker: number) => (asked.diarization ? { speaker } : {});
  const word = ({ text, start, end, confidence, speaker }: Spoken) => ({
    word: text.toLowerCase(),
    punctuated_word: text,
    start,
    end,
    confidence,
    ...speakerOf(speaker),
  });
  return {
    metadata: {
      request_id: "r",
      duration: conversation.durationSeconds,
      model_info: { m: { name: "general-nova-3", arch: "nova-3" } },
    },
    results: {
      channels: channelsOf(conversation).map((words) => ({
        alternatives: [{ transcript: textOf(words), words: words.map(word) }],
      })),
      utterances: turnsOf(conversation).map(({ text, start, end, speaker, channel, words }) => ({
        transcript: text,
        start,
        end,
        channel,
        confidence: 0.9,
        ...speakerOf(speaker),
        words: words.map(word),
      })),
    },
  };
}

/** One result a turn; offsets of zero are omitted, as proto3 does. */
export function asGoogleSpeech(conversation: Conversation, asked: Asked): object {
  const offset = (name: string, seconds: number) => (seconds === 0 ? {} : { [name]: `${seconds.toFixed(3)}s` });
  return {
    results: turnsOf(conversation).map(({ text, end, channel, words }) => ({
      alternatives: [
        {
          transcript: ` ${text}`,
          confidence: 0.9,
          words: words.map((word) => ({
            word: word.text,
            ...offset("startOffset", word.start),
            ...offset("endOffset", word.end),
            confidence: word.confidence,
            ...(asked.diarization ? { speakerLabel: String(word.speaker + 1) } : {}),
          })),
        },
      ],
      ...(asked.multichannel ? { channelTag: channel + 1 } : {}),
      ...offset("resultEndOffset", end),
      languageCode: "en-us",
    })),
    metadata: { totalBilledDuration: `${Math.ceil(conversation.durationSeconds)}s` },
  };
}

export function asAssemblyAi(conversation: Conversation, asked: Asked): object {
  const letter = (speaker: number) => String.fromCharCode(65 + speaker);
  const label = ({ speaker, channel }: Pick<Spoken, "speaker" | "channel">) =>
    `${asked.multichannel ? channel + 1 : ""}${asked.diarization ? letter(speaker) : ""}` || null;
  const piece = (each: Omit<Spoken, "confidence"> & { readonly confidence?: number }) => ({
    text: each.text,
    start: Math.round(each.start * 1000),
    end: Math.round(each.end * 1000),
    confidence: each.confidence ?? 0.9,
    speaker: label(each),
    ...(asked.multichannel ? { channel: String(each.channel + 1) } : {}),
  });
  const turns = turnsOf(conversation);
  return {
    id: "run",
    status: "completed",
    text: turns.map(({ text }) => text).join(" "),
    audio_duration: Math.round(conversation.durationSeconds),
    language_code: "en_us",
    speech_model_used: "universal-3-5-pro",
    ...(asked.multichannel ? { audio_channels: conversation.channels } : {}),
    words: byStart(conversation.words).map(piece),
    utterances: asked.diarization || asked.multichannel ? turns.map(piece) : null,
  };
}

export function asElevenLabs(conversation: Conversation, asked: Asked): object {
  const transcripts = channelsOf(conversation).map((words, channel) => ({
    language_code: "eng",
    language_probability: 0.98,
    text: textOf(words),
    channel_index: asked.multichannel ? channel : null,
    words: words.flatMap(({ text, start, end, speaker, confidence }, index) => {
      const shared = { speaker_id: asked.diarization ? `speaker_${speaker}` : null };
      const space = { text: " ", start, end: start, type: "spacing", logprob: 0, ...shared };
      const spoken = { text, start, end, type: "word", logprob: Math.log(Math.max(confidence, 1e-9)), ...shared };
      return index === 0 ? [spoken] : [space, spoken];
    }),
  }));
  const shared = { transcription_id: "t", audio_duration_secs: conversation.durationSeconds };
  return asked.multichannel && conversation.channels > 1
    ? { transcripts, ...shared }
    : { ...transcripts[0], ...shared };
}

export function asOpenAiVerbose(conversation: Conversation): object {
  return {
    task: "transcribe",
    language: "english",
    duration: conversation.durationSeconds,
    text: textOf(conversation.words),
    // Bare, as whisper-1 gives them.
    words: conversation.words.map(({ text, start, end }) => ({ word: idOf(text), start, end })),
    segments: turnsOf(conversation).map(({ text, start, end }, id) => ({ id, text: ` ${text}`, start, end })),
  };
}

export function asOpenAiDiarized(conversation: Conversation): object {
  return {
    task: "transcribe",
    duration: conversation.durationSeconds,
    text: textOf(conversation.words),
    segments: turnsOf(conversation).map(({ text, start, end, speaker }, index) => ({
      type: "transcript.text.segment",
      id: `seg_${index}`,
      start,
      end,
      text: ` ${text}`,
      speaker: String.fromCharCode(65 + speaker),
    })),
  };
}

/** Words in two tokens each, and a mark that is no speech. */
export function asWhisperCpp(conversation: Conversation): object {
  return {
    text: ` ${textOf(conversation.words)}`,
    language: "english",
    duration: conversation.durationSeconds,
    segments: turnsOf(conversation).map(({ text, start, end, words }, id) => ({
      id,
      text: ` ${text}`,
      start,
      end,
      words: [
        { word: "[_BEG_]", start, end: start, probability: 0.9 },
        ...words.flatMap((each) => {
          const middle = (each.start + each.end) / 2;
          return [
            { word: ` ${each.text.slice(0, 1)}`, start: each.start, end: middle, probability: each.confidence },
            { word: each.text.slice(1), start: middle, end: each.end, probability: 1 },
          ];
        }),
      ],
    })),
  };
}
