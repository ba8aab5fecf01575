// Submits and polls jobs as a careful application does: with an idempotency key, and with retries after every retryable answer and every broken connection.
import { setTimeout as wait } from "node:timers/promises";
import { noiseWav } from "../../../bench/upstream/wav.ts";

export interface SubmittedJob {
  readonly jobId: string;
  /** Key of its app. */
  readonly key: string;
  /** A unique key term identifies a job's submissions at the provider. */
  readonly term: string;
  /** Number of POST requests it took. */
  readonly posts: number;
}

export interface JobView {
  readonly job_id: string;
  readonly status: string;
  readonly attempts: number;
  readonly error: { readonly code: string } | null;
  readonly result: unknown;
}

export interface JobClientOptions {
  /** Null while the gateway is down. */
  readonly origin: () => string | null;
  readonly signal: AbortSignal;
}

const PAUSE_MS = 250;
const ANSWER_MS = 15_000;
/** Half a second of audio: the provider has all of it with the first packets. */
const AUDIO_BYTES = 16_044;

class UnexpectedAnswer extends Error {
  override readonly name = "UnexpectedAnswer";
}

/** With one idempotency key per index, however often it is posted. */
export async function submitJob(
  options: JobClientOptions,
  { key, index, seed }: { readonly key: string; readonly index: number; readonly seed: number },
): Promise<SubmittedJob> {
  const audio = noiseWav(AUDIO_BYTES, seed * 1_000_003 + index);
  const term = `job${index}`;
  for (let posts = 1; ; posts += 1) {
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(audio)], { type: "audio/wav" }), "audio.wav");
    form.append("keyterms", term);
    const answer = await ask(options, key, "/v1/transcription/jobs", {
      body: form,
      idempotencyKey: `faults-${seed}-${index}`,
    });
    if (answer?.status === 202) return { jobId: (answer.json as { job_id: string }).job_id, key, term, posts };
    if (answer !== null && !isTransient(answer))
      throw new UnexpectedAnswer(`submit ${index}: ${answer.status} ${JSON.stringify(answer.json)}`);
    await wait(PAUSE_MS, undefined, { signal: options.signal });
  }
}

/** Null if there is no such job. */
export async function readJob(options: JobClientOptions, { jobId, key }: SubmittedJob): Promise<JobView | null> {
  for (;;) {
    const answer = await ask(options, key, `/v1/transcription/jobs/${jobId}`, null);
    if (answer?.status === 200) return answer.json as JobView;
    if (answer?.status === 404) return null;
    if (answer !== null && !isTransient(answer))
      throw new UnexpectedAnswer(`${jobId}: ${answer.status} ${JSON.stringify(answer.json)}`);
    await wait(PAUSE_MS, undefined, { signal: options.signal });
  }
}

interface Answered {
  readonly status: number;
  readonly json: unknown;
}

/** Null: no answer. */
async function ask(
  { origin, signal }: JobClientOptions,
  key: string,
  path: string,
  post: { readonly body: FormData; readonly idempotencyKey: string } | null,
): Promise<Answered | null> {
  signal.throwIfAborted();
  const to = origin();
  if (to === null) return null;
  try {
    const response = await fetch(`${to}${path}`, {
      ...(post === null ? {} : { method: "POST", body: post.body }),
      headers: {
        authorization: `Bearer ${key}`,
        ...(post === null ? {} : { "idempotency-key": post.idempotencyKey }),
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    return { status: response.status, json: await response.json() };
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** While the database is unavailable any kind of answer may come, except a refusal of the request itself. */
function isTransient({ status, json }: Answered): boolean {
  const code = (json as { error?: { code?: string } } | null)?.error?.code;
  return status >= 500 || status === 429 || code === "IDEMPOTENCY_REPLAY_IN_PROGRESS";
}
