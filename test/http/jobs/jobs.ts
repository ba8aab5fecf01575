// Jobs over the public API, as an application would use it.
import assert from "node:assert/strict";
import { type Job, job, jobList, type SubmittedJob, submittedJob } from "../../../src/contract/jobs.ts";
import { type Answer, get, postForm, send, type TranscriptionCall } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";

export const JOBS = "/v1/transcription/jobs";

export async function submit(origin: string, call: TranscriptionCall = {}): Promise<SubmittedJob> {
  return submittedOf(await postForm(origin, { path: JOBS, ...call }));
}

export function submittedOf(answer: Answer): SubmittedJob {
  assert.equal(answer.status, 202, answer.text);
  const submitted = submittedJob.parse(answer.json);
  assert.equal(answer.headers.get("location"), submitted.poll_url);
  assert.equal(answer.headers.get("retry-after"), "2");
  return submitted;
}

export async function poll(origin: string, jobId: string, query = "", key = KEY): Promise<Job> {
  const answer = await get(origin, `${JOBS}/${jobId}${query}`, key);
  assert.equal(answer.status, 200, answer.text);
  return job.parse(answer.json);
}

/** Waits until it has ended. */
export async function ended(origin: string, jobId: string, key = KEY): Promise<Job> {
  for (;;) {
    const seen = await poll(origin, jobId, "?wait=20", key);
    if (seen.finished_at !== null) return seen;
  }
}

export async function list(origin: string, query = "", key = KEY) {
  const answer = await get(origin, `${JOBS}${query}`, key);
  assert.equal(answer.status, 200, answer.text);
  return jobList.parse(answer.json);
}

export async function cancel(origin: string, jobId: string, key = KEY): Promise<Job> {
  const answer = await remove(origin, jobId, key);
  assert.equal(answer.status, 200, answer.text);
  return job.parse(answer.json);
}

export function remove(origin: string, jobId: string, key = KEY): Promise<Answer> {
  return send(`${origin}${JOBS}/${jobId}`, { method: "DELETE", headers: { authorization: `Bearer ${key}` } });
}
