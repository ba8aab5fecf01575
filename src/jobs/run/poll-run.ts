// Polls a provider's run until it ends, across restarts [jobs.resume] [jobs.poll-interval]. Polls are free, so a failed one is repeated until the job's
// deadline, and the pauses end early on cancellation, a lost lease or shutdown.
import { type Io, ProviderError, type RemoteRun } from "../../providers/io.ts";
import type { RawTranscript, RemotePoll, RemoteSpeech } from "../../providers/provider.ts";

export interface Following {
  readonly remote: RemoteSpeech;
  readonly run: RemoteRun;
  readonly openIo: () => Io;
  readonly deadlineAtMs: number;
  readonly nowMs: () => number;
  /** Called after each poll. Throws to stop polling. */
  readonly onPoll: (fraction: number | null) => Promise<void>;
  /** Resolves early if the job is to stop. */
  readonly pause: (milliseconds: number) => Promise<void>;
}

const MIN_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 15_000;
/** Upper bound of a provider's `Retry-After`. */
const MAX_RETRY_AFTER_MS = 60_000;

export async function followRun(options: Following): Promise<RawTranscript> {
  let pauseMs = MIN_PAUSE_MS;
  for (;;) {
    const poll = await pollOnce(options);
    if (poll.done) return poll.raw;
    await options.onPoll(poll.fraction);
    const leftMs = options.deadlineAtMs - options.nowMs();
    if (leftMs <= 0) throw new ProviderError("timeout");
    const retryAfterMs = Math.min((poll.retryAfterSeconds ?? 0) * 1000, MAX_RETRY_AFTER_MS);
    // Jitter, so that jobs that were submitted together do not poll together.
    const jitteredMs = pauseMs * (0.8 + Math.random() * 0.4);
    await options.pause(Math.min(Math.max(jitteredMs, retryAfterMs), leftMs));
    pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS);
  }
}

/** A poll that failed, or returned nothing about the run, is repeated. */
async function pollOnce({ remote, run, openIo }: Following): Promise<RemotePoll> {
  try {
    return await remote.poll(run, openIo());
  } catch (error) {
    if (!(error instanceof ProviderError) || !INCONCLUSIVE_KINDS.has(error.kind)) throw error;
    return { done: false, retryAfterSeconds: error.retryAfterSeconds, fraction: null };
  }
}

const INCONCLUSIVE_KINDS: ReadonlySet<ProviderError["kind"]> = new Set([
  "connect",
  "unknown",
  "timeout",
  "rate_limited",
]);
