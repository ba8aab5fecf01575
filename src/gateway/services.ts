// The dependencies of the gateway's operations (`GatewayServices`: limits, providers, ledger, quotas and others), created once in `compose/app.ts` and
// passed as their first argument.
import type { Logger } from "pino";
import type { Decoder } from "../audio/decode/decoder.ts";
import type { Measurer } from "../audio/measure.ts";
import type { Spool } from "../audio/spool.ts";
import type { RemoteAudio } from "../audio/remote-audio.ts";
import type { Directory } from "../directory/snapshot.ts";
import type { Leases } from "../metering/leases.ts";
import type { Ledger } from "../metering/ledger.ts";
import type { PriceBook } from "../metering/price.ts";
import type { ChatProvider } from "../providers/chat/chat-provider.ts";
import type { Circuits } from "../providers/health.ts";
import type { RemoteRun, StreamingIo } from "../providers/io.ts";
import type { ReplyTerms } from "../providers/wire/reply-terms.ts";
import type { ProviderKind, SpeechProvider } from "../providers/provider.ts";
import type { Observer } from "./calls/observer.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import type { ProviderDeletions } from "./calls/deletion-duties.ts";
import type { TranscriptThread } from "./transcription/transcript-thread.ts";
import type { Quotas } from "../quotas/quotas.ts";

export interface IoRequest {
  readonly baseUrl: string;
  readonly isCallersAddress: boolean;
  readonly credential: string | null;
  /** Aborted when the work should stop because its answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Milliseconds from now until the call times out. */
  readonly timeoutMs: number;
  readonly expected: ReplyTerms;
  /** Waits for room in the queue of a model on this machine instead of failing. */
  readonly waitsForRoom?: boolean;
  /** Awaited before a request that the provider may charge for, so that what must be durable is committed. */
  readonly beforePaid?: () => Promise<void>;
  /** Called when the first byte is sent. From then on the provider may do the work. */
  readonly onDispatch: () => void;
  /** Called whenever bytes of a streamed reply are received. */
  readonly onReceived?: () => void;
  /** Awaited before the first poll of a run that the provider accepted. */
  readonly onRemoteRun?: (run: RemoteRun) => Promise<void>;
}

export interface GatewayServices {
  readonly limits: {
    readonly maxAudioDurationSeconds: number;
    readonly maxAudioUrlBytes: number;
    readonly maxKeyterms: number;
    readonly maxAttemptsPerRequest: number;
    readonly syncTimeoutSeconds: number;
  };
  readonly providers: ReadonlyMap<ProviderKind, SpeechProvider>;
  readonly chatProviders: ReadonlyMap<ProviderKind, ChatProvider>;
  /** The current configuration. A request reads it once. */
  readonly directory: () => Directory;
  readonly prices: () => PriceBook;
  readonly measurer: Measurer;
  readonly transcripts: Pick<TranscriptThread, "finish" | "caption">;
  readonly decoder: Decoder;
  /** Where a decoded recording is stored while it is sent in pieces. */
  readonly spool: Pick<Spool, "begin">;
  readonly remoteAudio: RemoteAudio;
  readonly circuits: Circuits;
  readonly observer: Observer;
  readonly ledger: Ledger;
  /** Pays for chats without an idempotency key: slices of an app's budgets that this process holds as leases. */
  readonly leases: Pick<Leases, "reserve" | "settle" | "reclaimer">;
  /** The longest silence of a provider within a streamed answer. */
  readonly streamIdleMs: number;
  /** How long a transcript's stream waits for its first content before the status line is sent. */
  readonly statusLineMs: number;
  readonly idempotency: Idempotency;
  readonly quotas: Quotas;
  readonly deletions: ProviderDeletions;
  readonly openIo: (request: IoRequest) => StreamingIo;
  /** The URL at which the sandbox speaks this provider's wire format. Targets of test keys are called there. */
  readonly sandboxUrl: (kind: ProviderKind, dialect: unknown) => string;
  readonly now: () => Date;
  /** The clock by which models retire. Tests set it separately, so that none depends on the current day. */
  readonly modelClock: () => Date;
  readonly logger: Logger;
}
