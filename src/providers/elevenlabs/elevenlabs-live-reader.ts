// Reads the messages of an ElevenLabs live session, and assembles its committed transcripts into the body that a file would have had. Interim results and
// detected entities are ignored.
import { z } from "zod";
import { gapBetween, joinWords } from "../../lib/text/join-words.ts";
import { type FailureKind, ProviderError, type WireMessage } from "../io.ts";
import type { ProviderSegment, SpeechEvent } from "../provider.ts";
import type { LiveReader } from "../wire/live-wire.ts";
import { plainId } from "../wire/plain-id.ts";
import { providerFailure } from "../wire/provider-failure.ts";

/** Shared by the sender of the audio and the reader of its transcript. */
export interface Commits {
  /** Commits that were sent and not refused. */
  open: number;
  /** All audio was committed. */
  isLast: boolean;
}

/** The error messages of the protocol. The name is also the reason of the close that follows. */
const FAILURES: ReadonlyMap<string, FailureKind> = new Map([
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
]);
const THROTTLED = "commit_throttled";
/** A session with too little audio is closed afterwards, which is the failure. */
const WARNINGS: ReadonlySet<string> = new Set([THROTTLED, "insufficient_audio_activity"]);

const started = z.object({
  message_type: z.literal("session_started"),
  session_id: z.unknown().optional(),
  config: z.object({ model_id: z.unknown().optional(), keyterms: z.unknown().optional() }).nullish().catch(null),
});
/** The official client calls each member optional. */
const word = z
  .object({
    text: z.string(),
    type: z.string().nullish(),
    start: z.number().nullish(),
    end: z.number().nullish(),
    logprob: z.number().nullish().catch(null),
  })
  .transform((each) => ({ ...each, type: each.type ?? (each.text.trim() === "" ? "spacing" : "word") }));
const committed = z.object({ message_type: z.literal("committed_transcript"), text: z.string() });
const timed = z.object({
  message_type: z.literal("committed_transcript_with_timestamps"),
  text: z.string(),
  language_code: z.string().nullish(),
  words: z.array(word).nullish(),
});
type Timed = z.infer<typeof timed>;
const messageSchema = z.discriminatedUnion("message_type", [started, committed, timed]);
const isMessage = z.object({
  message_type: z.enum(["session_started", "committed_transcript", "committed_transcript_with_timestamps"]),
});

const TYPES: ReadonlySet<string> = new Set([...isMessage.shape.message_type.options, ...WARNINGS, ...FAILURES.keys()]);

export function createElevenLabsLiveReader(commits: Commits, credential: string | null): LiveReader {
  const segments: { readonly message: Timed; readonly segment: ProviderSegment }[] = [];
  const texts = { spoken: 0, all: 0 };
  const withTimes = { spoken: 0, all: 0 };
  let session: z.infer<typeof started> | null = null;

  /** Each commit is answered twice, in any order. Whether silence is answered with times is not documented. */
  function isComplete(): boolean {
    if (!commits.isLast) return false;
    return withTimes.all >= commits.open || (texts.all >= commits.open && withTimes.spoken >= texts.spoken);
  }

  function take(message: Timed): readonly Piece[] {
    count(withTimes, message.text);
    const text = message.text.trim();
    if (text === "") return [];
    const previous = segments.at(-1);
    const gap = gapBetween(previous?.segment.text ?? "", text);
    const segment = segmentOf(message, text, previous?.segment.end ?? 0);
    segments.push({ message, segment });
    return [
      { type: "text", text: `${gap}${text}` },
      { type: "segment", segment },
    ];
  }

  return {
    types: TYPES,
    isWarning: (message) => WARNINGS.has(typeOf(message)),
    failure: (message) => failureOf(message, credential),
    read: (message) => {
      if (typeOf(message) === THROTTLED) forgetCommit(commits);
      if (!isMessage.safeParse(message).success) return [];
      const { data, success } = messageSchema.safeParse(message);
      if (!success) throw new ProviderError("bad_reply", { reason: "missing_fields" });
      if (data.message_type === "session_started") session = data;
      if (data.message_type === "committed_transcript") count(texts, data.text);
      return data.message_type === "committed_transcript_with_timestamps" ? take(data) : [];
    },
    end: () => (isComplete() ? bodyOf(segments, session) : null),
    closeFailure,
  };
}

type Piece = Exclude<SpeechEvent, { type: "end" }>;

/** A commit that was refused is not answered, and its audio is part of the next one. After the last one there is none: the rest of the audio may be lost. */
function forgetCommit(commits: Commits): void {
  if (commits.isLast) throw new ProviderError("unknown", { reason: THROTTLED });
  commits.open -= 1;
}

function count(counter: { spoken: number; all: number }, text: string): void {
  counter.all += 1;
  if (text.trim() !== "") counter.spoken += 1;
}

function typeOf(message: unknown): string {
  return z.object({ message_type: z.string() }).safeParse(message).data?.message_type ?? "";
}

function failureOf(message: unknown, credential: string | null): ProviderError | null {
  const type = typeOf(message);
  const kind = FAILURES.get(type);
  if (kind === undefined) return null;
  const provider = providerFailure({ status: 101, headers: {}, text: "" }, message, credential);
  const isModel = kind === "rejected" && /\bmodel_id\b.*\binvalid\b/u.test(provider.message ?? "");
  return new ProviderError(isModel ? "not_found" : kind, { reason: type, provider: { ...provider, code: type } });
}

function closeFailure({ code, reason }: Extract<WireMessage, { kind: "close" }>): ProviderError | null {
  const kind = FAILURES.get(reason);
  return kind === undefined ? null : new ProviderError(kind, { reason: `close_${code}` });
}

function segmentOf({ words }: Timed, text: string, previousEnd: number): ProviderSegment {
  const spoken = (words ?? []).filter(({ type, start }) => type === "word" && typeof start === "number");
  const start = spoken[0]?.start ?? previousEnd;
  const last = spoken.at(-1);
  return { text, start, end: last?.end ?? last?.start ?? start, confidence: null, speaker: null, channel: null };
}

function bodyOf(
  segments: readonly { readonly message: Timed; readonly segment: ProviderSegment }[],
  session: z.infer<typeof started> | null,
): object {
  return {
    text: joinWords(segments.map(({ segment }) => segment.text)),
    language_code: segments.find(({ message }) => message.language_code != null)?.message.language_code ?? null,
    words: segments.flatMap(({ message }) => message.words ?? []),
    segments: segments.map(({ segment }) => segment),
    session: {
      id: plainId(typeof session?.session_id === "string" ? session.session_id : null),
      model: session?.config?.model_id ?? null,
      keyterms: session?.config?.keyterms ?? null,
    },
  };
}

const liveBody = z.object({
  segments: z.array(z.custom<ProviderSegment>()),
  session: z.object({ id: z.string().nullable(), model: z.unknown(), keyterms: z.unknown() }),
});

/** What a live session reports in addition to a transcript of a file. */
export interface ElevenLabsSession {
  readonly segments: readonly ProviderSegment[];
  readonly id: string | null;
  readonly model: unknown;
  /** Null: not repeated. */
  readonly keyterms: readonly unknown[] | null;
}

export function readElevenLabsSession(raw: unknown): ElevenLabsSession {
  const { segments, session } = liveBody.parse(raw);
  return { segments, ...session, keyterms: Array.isArray(session.keyterms) ? session.keyterms : null };
}
