// What the verbs of this room need from the outside, made once in `app.ts` and handed in as their first argument.
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
import type { Quotas } from "../quotas/quotas.ts";

export interface IoRequest {
  readonly baseUrl: string;
  readonly isCallersAddress: boolean;
  readonly credential: string | null;
  /** Aborted when the work should stop: nobody is left to answer. */
  readonly signal: AbortSignal;
  /** Milliseconds from now until the call is given up. */
  readonly timeoutMs: number;
  readonly expected: ReplyTerms;
  /** Awaited before a request that the provider may be paid for: what must be durable by then. */
  readonly beforePaid?: () => Promise<void>;
  /** Called as the first byte leaves: from then on the provider may do the work. */
  readonly onDispatch: () => void;
  /** Called whenever bytes of a streamed reply came. */
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
  /** The operator's set-up as it is now; a request reads it once. */
  readonly directory: () => Directory;
  readonly prices: () => PriceBook;
  readonly measurer: Measurer;
  readonly decoder: Decoder;
  /** Where a recording rests that is sent in pieces. */
  readonly spool: Pick<Spool, "begin">;
  readonly remoteAudio: RemoteAudio;
  readonly circuits: Circuits;
  readonly observer: Observer;
  readonly ledger: Ledger;
  /** What chats without an idempotency key are paid from: an app's budgets, in slices held by this process. */
  readonly leases: Pick<Leases, "reserve" | "settle" | "reclaimer">;
  /** Longest silence of a provider in the middle of a streamed answer. */
  readonly streamIdleMs: number;
  /** How long the status line of a transcript's stream waits for its first content. */
  readonly statusLineMs: number;
  readonly idempotency: Idempotency;
  readonly quotas: Quotas;
  readonly deletions: ProviderDeletions;
  readonly openIo: (request: IoRequest) => StreamingIo;
  /** Where the sandbox speaks this provider's wire format. Targets of test keys go there. */
  readonly sandboxUrl: (kind: ProviderKind, dialect: unknown) => string;
  readonly now: () => Date;
  readonly logger: Logger;
}
