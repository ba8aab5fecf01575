// Finishes and captions long transcripts in a worker thread, so that they block no other request [transcription.long-transcripts]. 60,000 words block the event
// loop for up to 190 ms here, and for 75 ms in steps of 8 ms when they are sent to a thread and back.
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { receiveInSlices, sendInSlices } from "../../lib/concurrency/slice-transfer.ts";
import { createTaskThread } from "../../lib/concurrency/task-thread.ts";
import { threadUrl } from "../../lib/thread-url.ts";
import type { ProviderSegment, ProviderWord } from "../../providers/provider.ts";
import type { Requirements } from "../../routing/required-features.ts";
import { type CaptionSource, captionText } from "./caption-text.ts";
import { type FinishedTranscript, finishTranscript, isTextAlone, type SpokenTranscript } from "./finish-transcript.ts";

export interface TranscriptThread {
  /** `finishTranscript`. Transcripts are finished one at a time, round-robin by owner. */
  finish(
    owner: string,
    spoken: SpokenTranscript,
    wanted: Requirements,
    durationSeconds: number,
  ): Promise<FinishedTranscript>;
  /** `captionText`. */
  caption(owner: string, spoken: CaptionSource): Promise<string>;
  close(): Promise<void>;
}

/** The inputs as records of lists, because only lists are sent in slices. */
export type TranscriptTask =
  | ({ readonly kind: "caption" } & CaptionSource)
  | {
      readonly kind: "finish";
      readonly text: string;
      readonly segments: readonly ProviderSegment[];
      readonly words: readonly ProviderWord[];
      readonly wanted: Requirements;
      readonly durationSeconds: number;
    };

export interface ThreadTask {
  readonly port: MessagePort;
  readonly messages: number;
}

/** Number of messages in which the result was sent. */
export type ThreadAnswer = number;

/** Shorter transcripts are finished within 10 ms. */
const LIGHT_PIECES = 2_000;
const LIGHT_CHARACTERS = 30_000;

const THREAD_URL = threadUrl(import.meta.url, "transcript-thread-main");

export function createTranscriptThread(): TranscriptThread {
  const thread = createTaskThread<ThreadTask, ThreadAnswer>({ url: THREAD_URL, killAfterMs: Infinity });

  let isClosed = false;

  /** Undefined: the thread ended, or is closed. */
  const inThread = async (owner: string, task: TranscriptTask): Promise<unknown> => {
    if (isClosed) return undefined;
    return thread.run({ owner }, async (ask) => {
      const { port1: port, port2: threadPort } = new MessageChannel();
      try {
        const answer = await ask({ port: threadPort, messages: await sendInSlices(port, task) }, [threadPort]);
        return answer === null ? undefined : await receiveInSlices(port, answer);
      } finally {
        port.close();
      }
    });
  };

  return {
    finish: async (owner, spoken, wanted, durationSeconds) => {
      const { text, segments, words } = spoken;
      const isShort = isTextAlone(spoken, wanted) || isLight(text.length, segments, words);
      const finished = isShort
        ? undefined
        : await inThread(owner, { kind: "finish", text, segments, words, wanted, durationSeconds });
      // A paid transcript is not lost with the thread: it is finished here.
      return (finished as FinishedTranscript | undefined) ?? finishTranscript(spoken, wanted, durationSeconds);
    },
    caption: async (owner, spoken) => {
      const captioned = isLight(0, spoken.segments, spoken.words)
        ? undefined
        : await inThread(owner, { kind: "caption", ...spoken });
      return (captioned as { readonly text: string } | undefined)?.text ?? captionText(spoken);
    },
    close: () => {
      isClosed = true;
      return thread.close();
    },
  };
}

type Pieces = readonly { readonly text: string }[];

function isLight(characters: number, segments: Pieces, words: Pieces): boolean {
  if (segments.length + words.length > LIGHT_PIECES) return false;
  const lengthOf = (pieces: Pieces) => pieces.reduce((sum, { text }) => sum + text.length, 0);
  return characters + lengthOf(segments) + lengthOf(words) <= LIGHT_CHARACTERS;
}
