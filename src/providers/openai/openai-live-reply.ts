// Reads the events of OpenAI's transcription sessions. The text of an item arrives in pieces and again when it is complete; completions of different items may
// arrive out of order, so that each item waits for those before it.
import { z } from "zod";
import { gapBetween, joinWords } from "../../lib/text/join-words.ts";
import { asKind, type FailureKind, ProviderError } from "../io.ts";
import type { SpeechEvent } from "../provider.ts";
import type { LiveReader } from "../wire/live-wire.ts";
import { eventFailure, plainId } from "../wire/read-reply.ts";
import { secondsOrNull } from "../wire/reply-values.ts";

const TRANSCRIPTION = "conversation.item.input_audio_transcription";
const id = z.string().min(1).max(256);
const sessionEvent = z.object({ type: z.enum(["session.created", "session.updated"]), session: z.unknown() });
const committed = z.object({ type: z.literal("input_audio_buffer.committed"), item_id: id });
const delta = z.object({ type: z.literal(`${TRANSCRIPTION}.delta`), item_id: id, delta: z.string().default("") });
const completed = z.object({
  type: z.literal(`${TRANSCRIPTION}.completed`),
  item_id: id,
  transcript: z.string(),
  usage: z.unknown().optional(),
});
const messageSchema = z.discriminatedUnion("type", [sessionEvent, committed, delta, completed]);
const READ: readonly string[] = [
  ...sessionEvent.shape.type.options,
  committed.shape.type.value,
  delta.shape.type.value,
  completed.shape.type.value,
];
const failed = z.object({ type: z.enum(["error", `${TRANSCRIPTION}.failed`]), error: z.unknown() });
const typed = z.object({ type: z.string() });
const sessionId = z.object({ id: z.string() });
const duration = z.object({ type: z.literal("duration"), seconds: z.unknown() });

interface Item {
  /** What was returned of it, without blanks at its ends. */
  shown: string;
  /** Not yet returned: blanks at its end, or all of an item that waits for those before it. */
  held: string;
  final: string | null;
}

type Piece = Exclude<SpeechEvent, { type: "end" }>;

export interface OpenAiLiveReader extends LiveReader {
  /** Resolves when the provider has accepted the configuration. */
  readonly configured: Promise<void>;
  /** The commit is about to be sent: the next item that is committed is the last. Without turn detection only a commit makes one. */
  expectCommit(): void;
}

export function createLiveReader(credential: string | null): OpenAiLiveReader {
  const items = new Map<string, Item>();
  /** Those that are not complete and their followers. Only text of the first is returned. */
  const queue: Item[] = [];
  let before = "";
  const configuration = Promise.withResolvers<void>();
  let session: string | null = null;
  let seconds: number | null = null;
  let isCommitSent = false;
  let hasLast = false;

  const isDone = (): boolean => hasLast && queue.length === 0;

  function itemOf(name: string): Item {
    const known = items.get(name);
    if (known !== undefined) return known;
    const item: Item = { shown: "", held: "", final: null };
    items.set(name, item);
    queue.push(item);
    return item;
  }

  /** Returns what is ready, in the order of the items. */
  function flush(): readonly Piece[] {
    const pieces: Piece[] = [];
    for (let item = queue[0]; item !== undefined; item = queue[0]) {
      if (item.final !== null) item.held = restOf(item, item.final);
      const text = item.shown === "" ? item.held.trimStart() : item.held;
      const ready = text.trimEnd();
      if (ready !== "") {
        pieces.push({ type: "text", text: item.shown === "" ? gapBetween(before, ready) + ready : ready });
        item.shown += ready;
      }
      item.held = text.slice(ready.length);
      if (item.final === null) break;
      if (item.shown !== "") before = item.shown;
      queue.shift();
    }
    return pieces;
  }

  return {
    types: new Set([...READ, ...failed.shape.type.options]),
    configured: configuration.promise,
    expectCommit: () => {
      isCommitSent = true;
    },
    keptCharacters: (message) =>
      delta.safeParse(message).data?.delta.length ?? completed.safeParse(message).data?.transcript.length ?? 0,
    isWarning: (message) => {
      // Every sample was committed before.
      const isEmpty = isCommitSent && items.size > 0 && codeOf(message) === "input_audio_buffer_commit_empty";
      if (isEmpty) hasLast = true;
      return isEmpty;
    },
    failure: (message) => (failed.safeParse(message).success ? failureOf(message, credential) : null),
    read: (message) => {
      if (!READ.includes(typed.safeParse(message).data?.type ?? "")) return [];
      const { data, success } = messageSchema.safeParse(message);
      if (!success) throw new ProviderError("bad_reply", { reason: "missing_fields" });
      switch (data.type) {
        case "session.created":
        case "session.updated":
          session ??= plainId(sessionId.safeParse(data.session).data?.id);
          if (data.type === "session.updated") configuration.resolve();
          return [];
        case "input_audio_buffer.committed":
          itemOf(data.item_id);
          hasLast ||= isCommitSent;
          return [];
        case `${TRANSCRIPTION}.delta`: {
          const item = itemOf(data.item_id);
          if (item.final === null) item.held += data.delta;
          return flush();
        }
        case `${TRANSCRIPTION}.completed`: {
          const item = itemOf(data.item_id);
          if (item.final === null) seconds = sum(seconds, durationOf(data.usage));
          item.final ??= data.transcript.trim();
          return flush();
        }
      }
    },
    end: () => {
      if (!isDone()) return null;
      const texts = [...items.values()].map(({ shown }) => shown).filter((text) => text !== "");
      return { id: session, text: joinWords(texts), seconds } satisfies z.infer<typeof liveBody>;
    },
    closeFailure: () => null,
  };
}

/** A final text that is not the continuation of what was returned changes nothing: what a caller has received stays. */
function restOf({ shown }: Item, final: string): string {
  return final.startsWith(shown) ? final.slice(shown.length) : "";
}

/** Only billed seconds are a duration. A model that is billed by tokens reports none. */
function durationOf(usage: unknown): number | null {
  return secondsOrNull(duration.safeParse(usage).data?.seconds);
}

function sum(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0);
}

const KIND_OF_TYPE: ReadonlyMap<unknown, FailureKind> = new Map([
  ["invalid_request_error", "rejected"],
  ["server_error", "server_error"],
]);
/** Codes with another meaning than their type. */
const KIND_OF_CODE: ReadonlyMap<unknown, FailureKind> = new Map([
  // The provider ends a session after its longest duration. Its text is incomplete.
  ["session_expired", "unknown"],
]);

const errorSchema = z.object({ error: z.object({ code: z.unknown(), type: z.unknown() }).partial() });

function codeOf(message: unknown): unknown {
  return errorSchema.safeParse(message).data?.error.code;
}

/** After an error the session may continue, but something that was sent is missing in its text. */
function failureOf(message: unknown, credential: string | null): ProviderError {
  const failure = eventFailure(message, credential) ?? new ProviderError("bad_reply", { reason: "error_event" });
  const { code, type } = errorSchema.safeParse(message).data?.error ?? {};
  const kind = KIND_OF_CODE.get(code) ?? (failure.kind === "bad_reply" ? KIND_OF_TYPE.get(type) : undefined);
  return kind === undefined ? failure : asKind(failure, kind);
}

/** What a buffered reply would have had, if there were one. */
export const liveBody = z.object({ id: z.string().nullable(), text: z.string(), seconds: z.number().nullable() });
