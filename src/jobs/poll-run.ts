// Polls a run at a provider to its end, across restarts [jobs.resume] [jobs.poll-interval]. Polls are free, so a failed one is repeated
// until the job's deadline. Between two polls the worker notices cancellation, a lost lease and its own shutdown.
import { type Io, ProviderError, type RemoteRun } from "../providers/io.ts";
import type { RawTranscript, RemotePoll, RemoteSpeech } from "../providers/provider.ts";

export interface Following {
  readonly remote: RemoteSpeech;
  readonly run: RemoteRun;
  readonly openIo: () => Io;
  readonly deadlineAtMs: number;
  readonly nowMs: () => number;
  /** After each poll; throws what is to stop it. */
  readonly onPoll: (fraction: number | null) => Promise<void>;
  /** Cut short when the job is to stop. */
  readonly pause: (milliseconds: number) => Promise<void>;
}

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 15_000;
/** However long a provider asks to be left alone. */
const LONGEST_ASKED_MS = 60_000;

export async function followRun(following: Following): Promise<RawTranscript> {
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const polled = await pollOnce(following);
    if (polled.done) return polled.raw;
    await following.onPoll(polled.fraction);
    const leftMs = following.deadlineAtMs - following.nowMs();
    if (leftMs <= 0) throw new ProviderError("timeout");
    const askedMs = Math.min((polled.retryAfterSeconds ?? 0) * 1000, LONGEST_ASKED_MS);
    // Jobs that were submitted together are not to poll together.
    const jittered = pauseMs * (0.8 + Math.random() * 0.4);
    await following.pause(Math.min(Math.max(jittered, askedMs), leftMs));
    pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS);
  }
}

/** A provider that could not be asked, or whose answer says nothing of the run, is asked again. */
async function pollOnce({ remote, run, openIo }: Following): Promise<RemotePoll> {
  try {
    return await remote.poll(run, openIo());
  } catch (error) {
    if (!(error instanceof ProviderError) || !SAYS_NOTHING.has(error.kind)) throw error;
    return { done: false, retryAfterSeconds: error.retryAfterSeconds, fraction: null };
  }
}

const SAYS_NOTHING: ReadonlySet<ProviderError["kind"]> = new Set(["connect", "unknown", "timeout", "rate_limited"]);
