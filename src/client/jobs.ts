// Durable transcription of long recordings [client.jobs]: submit a job, then poll until it ends.
import type { ExportFormat, Job, JobList, SubmittedJob } from "../contract/jobs.ts";
import type { RoutingDecision, TranscriptionEnvelope } from "../contract/transcription/transcription-envelope.ts";
import type { AnswerPromise } from "./answer-promise.ts";
import { type AudioSource, audioBody } from "./audio-body.ts";
import { delayMs } from "./call.ts";
import { ask, askText, callBilled, queryOf } from "./caller.ts";
import type { CallOptions, ClientConfiguration, PaidCallOptions } from "./configuration.ts";
import { openDeadline } from "./deadline.ts";
import { PatchbayConnectionError, PatchbayError } from "./errors.ts";
import type { DryRun, JobListOptions, JobOptions } from "./types.ts";

export interface JobWaitOptions {
  /** Aborts the waiting, not the job. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum waiting time. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Called at each poll, about every two seconds. Without it, polls are less frequent. */
  readonly onProgress?: ((job: Job) => void) | undefined;
}

const PATH = "/v1/transcription/jobs";
/** How long the gateway holds a poll without news; many proxies close an idle connection after a minute. */
const HOLD_SECONDS = 30;
const HOLD_WITH_PROGRESS_SECONDS = 2;
const LOOK_MS = 60_000;
/** Shortest interval between two polls: a stopping gateway holds none. */
const PAUSE_MS = 1_000;

export class Jobs {
  readonly #configuration: ClientConfiguration;

  constructor(configuration: ClientConfiguration) {
    this.#configuration = configuration;
  }

  /** The job is durable when this returns. */
  submit(audio: AudioSource, options: JobOptions & DryRun, call?: PaidCallOptions): AnswerPromise<RoutingDecision>;
  submit(audio: AudioSource, options?: JobOptions, call?: PaidCallOptions): AnswerPromise<SubmittedJob>;
  submit(audio: AudioSource, options: JobOptions = {}, call: PaidCallOptions = {}) {
    return callBilled<SubmittedJob | RoutingDecision>(this.#configuration, PATH, () => audioBody(audio, options), call);
  }

  get(id: string, options: CallOptions = {}): AnswerPromise<Job> {
    return ask(this.#configuration, { path: pathOf(id), options });
  }

  /** One page, newest first, without results. */
  list({ status, limit, cursor }: JobListOptions = {}, options: CallOptions = {}): AnswerPromise<JobList> {
    return ask(this.#configuration, { path: `${PATH}${queryOf({ status, limit, cursor })}`, options });
  }

  /** A running job is cancelled between two of its stages; an ended job does not change. */
  cancel(id: string, options: CallOptions = {}): AnswerPromise<Job> {
    return ask(this.#configuration, { method: "DELETE", path: pathOf(id), options });
  }

  /** The result of a succeeded job as captions or text, at no cost. */
  captions(
    id: string,
    format: Exclude<ExportFormat, "verbose_json">,
    options: CallOptions = {},
  ): AnswerPromise<string> {
    return askText(this.#configuration, { path: `${pathOf(id)}${queryOf({ format })}`, options });
  }

  /** The transcript of an ended job, downloaded if it is too large to be part of the job. Throws the error of a failed job. */
  async result(endedJob: Job, options: CallOptions = {}): Promise<TranscriptionEnvelope> {
    // Pages contain no results.
    const isLeftOut = endedJob.status === "succeeded" && endedJob.result === null && endedJob.result_url === null;
    const fullJob = isLeftOut && !endedJob.result_expired ? await this.get(endedJob.job_id, options) : endedJob;
    const { result, result_url: path, error, status } = fullJob;
    if (result !== null) return result;
    // Only a path on the gateway itself: the key is sent to no other host.
    if (path?.startsWith("/v1/") === true) return ask<TranscriptionEnvelope>(this.#configuration, { path, options });
    if (error !== null) throw new PatchbayError(error);
    const message = `The job has no result: it is ${fullJob.result_expired ? "deleted" : status}.`;
    throw new PatchbayError({ code: "NOT_FOUND", message, retryable: false });
  }

  /** Waits until the job has ended in any state. Keeps polling while a gateway that was reachable is unavailable. */
  async wait(id: string, { signal, timeoutMs, onProgress }: JobWaitOptions = {}): Promise<Job> {
    const message = `The job had not ended within ${timeoutMs} ms. It continues.`;
    const deadline = openDeadline(
      signal,
      timeoutMs ?? null,
      () => new PatchbayConnectionError({ code: "TIMED_OUT", message, retryable: true }),
    );
    try {
      return await this.#untilEnded(id, deadline.signal, onProgress);
    } finally {
      deadline.close();
    }
  }

  async #untilEnded(id: string, signal: AbortSignal, onProgress: JobWaitOptions["onProgress"]): Promise<Job> {
    const { wait, random } = this.#configuration;
    const options = { signal, timeoutMs: LOOK_MS };
    // The first poll returns at once, so that a missing job is reported.
    let current = await this.get(id, options);
    for (let failures = 0; ; ) {
      onProgress?.(current);
      if (!isRunning(current)) return current;
      const lookedAtMs = performance.now();
      const hold = queryOf({ wait: onProgress === undefined ? HOLD_SECONDS : HOLD_WITH_PROGRESS_SECONDS });
      try {
        current = await ask<Job>(this.#configuration, { path: `${pathOf(id)}${hold}`, options });
        failures = 0;
        const leftMs = Math.ceil(lookedAtMs + PAUSE_MS - performance.now());
        if (isRunning(current) && leftMs > 0) await wait(leftMs, signal);
      } catch (error) {
        if (!(error instanceof PatchbayError) || !error.retryable || signal.aborted) throw error;
        failures += 1;
        await wait(delayMs(failures, error.retryAfterSeconds, random()), signal);
      }
    }
  }
}

function isRunning({ status }: Job): boolean {
  return status === "queued" || status === "processing";
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
