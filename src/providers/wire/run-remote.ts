// Wraps submit and poll of an asynchronous provider into one call: the run is reported before its first poll [providers.run-before-poll], and a failed poll is
// retried, because only the run itself can report how it ended [providers.poll-again].
import { asKind, type FailureKind, type Io, ProviderError, type RemoteRun } from "../io.ts";
import type { RawTranscript, RemoteSpeech, SpeechAudio, SpeechPlan, SpeechProvider } from "../provider.ts";

export async function transcribeRemotely(
  remote: RemoteSpeech,
  plan: SpeechPlan,
  audio: SpeechAudio,
  io: Io,
): Promise<RawTranscript> {
  const run = await remote.submit(plan, audio, io);
  try {
    await io.onRemoteRun(run);
  } catch (error) {
    // The run could not be stored for a later deletion, so it is deleted now.
    await remote.remove(run, io).catch(() => undefined);
    throw error;
  }
  return pollToEnd(remote, run, io);
}

/** Deletes what a provider stores of a run, or of a call that it answered at once. */
export async function removeKept(provider: SpeechProvider, run: RemoteRun, io: Io): Promise<void> {
  if (provider.remote !== undefined) return provider.remote.remove(run, io);
  if (provider.remove === undefined) throw new Error(`${provider.kind} keeps nothing to delete`);
  return provider.remove(run, io);
}

/**
 * For a request about a run: its failure proves nothing about the run, which continues and may be billed. An answer that is too long is definite, as a retry
 * would be as long.
 */
export function tagUnknownOutcome(error: unknown): unknown {
  return error instanceof ProviderError && !SAYS_ENOUGH.has(error.kind) ? asKind(error, "unknown") : error;
}

const SAYS_ENOUGH: ReadonlySet<FailureKind> = new Set(["timeout", "aborted", "bad_reply"]);

/** For a step that starts no work and is not billed: however it failed, nothing was done, and the next target may be tried. */
export function nothingBegun(error: unknown, step: string): unknown {
  if (!(error instanceof ProviderError) || (error.kind !== "unknown" && error.kind !== "timeout")) return error;
  return asKind(error, error.status === null ? "connect" : "server_error", step);
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 3_000;
const MAX_PAUSE_ASKED_MS = 60_000;
/** In a row, about half a minute. The deadline usually comes first. */
const MAX_FAILED_POLLS = 12;

/** Throws the run's failure, or `unknown`, `timeout`, `aborted` if its end could not be determined. */
async function pollToEnd(remote: RemoteSpeech, run: RemoteRun, io: Io): Promise<RawTranscript> {
  let pauseMs = FIRST_PAUSE_MS;
  let failed = 0;
  for (;;) {
    const result = await poll(remote, run, io);
    if (result instanceof ProviderError) {
      failed += 1;
      if (failed === MAX_FAILED_POLLS) throw result;
    } else if (result.done) {
      return result.raw;
    } else {
      failed = 0;
    }
    const askedMs = Math.min((result.retryAfterSeconds ?? 0) * 1000, MAX_PAUSE_ASKED_MS);
    await io.pause(Math.max(pauseMs, askedMs));
    pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS);
  }
}

type Polled = Awaited<ReturnType<RemoteSpeech["poll"]>>;

/** `unknown` is a poll without an answer. Other failures are about the run, or about this attempt. */
async function poll(remote: RemoteSpeech, run: RemoteRun, io: Io): Promise<Polled | ProviderError> {
  try {
    return await remote.poll(run, io);
  } catch (error) {
    if (error instanceof ProviderError && error.kind === "unknown") return error;
    throw error;
  }
}
