// Durable transcription of long recordings [client.jobs]: submitted once, polled until it ends.
import type { ExportFormat, Job, JobList, SubmittedJob } from "../contract/jobs.ts";
import type { RoutingDecision, TranscriptionEnvelope } from "../contract/transcription.ts";
import type { AnswerPromise } from "./answer-promise.ts";
import { type AudioSource, audioBody } from "./audio-body.ts";
import { delayMs } from "./call.ts";
import { ask, askText, pay, queryOf } from "./caller.ts";
import type { CallOptions, ClientConfiguration, PaidCallOptions } from "./configuration.ts";
import { openDeadline } from "./deadline.ts";
import { PatchbayConnectionError, PatchbayError } from "./errors.ts";
import type { DryRun, JobListOptions, JobOptions } from "./types.ts";

export interface JobWaitOptions {
  /** Ends the waiting, not the job. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait at most; for as long as it takes unless given. */
  readonly timeoutMs?: number | undefined;
  /** Told of the job at each look, about every two seconds; without it nobody looks as often. */
  readonly onProgress?: ((job: Job) => void) | undefined;
}

const PATH = "/v1/transcription/jobs";
/** How long the gateway holds a look that finds nothing new; what stands between often ends after a minute. */
const HOLD_SECONDS = 30;
const HOLD_WITH_PROGRESS_SECONDS = 2;
const LOOK_MS = 60_000;
/** Between two looks at least: a gateway that stops holds none. */
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
    return pay<SubmittedJob | RoutingDecision>(this.#configuration, PATH, () => audioBody(audio, options), call);
  }

  get(id: string, options: CallOptions = {}): AnswerPromise<Job> {
    return ask(this.#configuration, { path: pathOf(id), options });
  }

  /** A page, newest first; results are left out. */
  list({ status, limit, cursor }: JobListOptions = {}, options: CallOptions = {}): AnswerPromise<JobList> {
    return ask(this.#configuration, { path: `${PATH}${queryOf({ status, limit, cursor })}`, options });
  }

  /** A job that is worked on is cancelled between two of its stages; one that has ended stays as it is. */
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

  /** The transcript of a job that has ended, fetched where it is too large to stand in the job; what failed throws its error. */
  async result(ended: Job, options: CallOptions = {}): Promise<TranscriptionEnvelope> {
    // On a page results are left out.
    const isLeftOut = ended.status === "succeeded" && ended.result === null && ended.result_url === null;
    const whole = isLeftOut && !ended.result_expired ? await this.get(ended.job_id, options) : ended;
    const { result, result_url: path, error, status } = whole;
    if (result !== null) return result;
    // The gateway's own, below its address; a key is sent to no other.
    if (path?.startsWith("/v1/") === true) return ask<TranscriptionEnvelope>(this.#configuration, { path, options });
    if (error !== null) throw new PatchbayError(error);
    const message = `The job has no result: it is ${whole.result_expired ? "deleted" : status}.`;
    throw new PatchbayError({ code: "NOT_FOUND", message, retryable: false });
  }

  /** Until the job has ended, however it did; a gateway that was there and is away for a while is waited for. */
  async wait(id: string, { signal, timeoutMs, onProgress }: JobWaitOptions = {}): Promise<Job> {
    const message = `The job had not ended within ${timeoutMs} ms; it goes on.`;
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
    // The first look answers at once: a job that is not there is told so.
    let seen = await this.get(id, options);
    for (let failures = 0; ; ) {
      onProgress?.(seen);
      if (!isRunning(seen)) return seen;
      const lookedAtMs = performance.now();
      const hold = queryOf({ wait: onProgress === undefined ? HOLD_SECONDS : HOLD_WITH_PROGRESS_SECONDS });
      try {
        seen = await ask<Job>(this.#configuration, { path: `${pathOf(id)}${hold}`, options });
        failures = 0;
        const leftMs = Math.ceil(lookedAtMs + PAUSE_MS - performance.now());
        if (isRunning(seen) && leftMs > 0) await wait(leftMs, signal);
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
