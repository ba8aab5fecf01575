// The job endpoints that the benchmarks call.
import { setTimeout as wait } from "node:timers/promises";

export interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

const JOBS = "/v1/transcription/jobs";
const POLL_MS = 20;

export async function submitUpload(origin: string, key: string, audio: Uint8Array): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(audio)], { type: "audio/wav" }), "audio.wav");
  const { job_id } = (await ask(origin + JOBS, key, { method: "POST", body: form })) as { job_id: string };
  return job_id;
}

export async function waitForJob(origin: string, key: string, jobId: string): Promise<Job> {
  for (;;) {
    const job = (await ask(`${origin}${JOBS}/${jobId}?wait=60`, key, {})) as Job;
    if (job.status !== "queued" && job.status !== "processing") return job;
  }
}

/** Waits until there are none. */
export async function unfinishedJobs(origin: string, key: string, limitSeconds: number): Promise<void> {
  const lastMs = performance.now() + limitSeconds * 1000;
  for (const status of ["queued", "processing"]) {
    for (;;) {
      const { data } = (await ask(`${origin}${JOBS}?status=${status}&limit=1`, key, {})) as { data: readonly Job[] };
      if (data.length === 0) break;
      if (performance.now() > lastMs) throw new Error("the jobs did not end in time");
      await wait(POLL_MS);
    }
  }
}

/** One page of the newest succeeded jobs. */
export async function finishedJobs(origin: string, key: string): Promise<readonly Job[]> {
  const { data } = (await ask(`${origin}${JOBS}?status=succeeded&limit=100`, key, {})) as { data: readonly Job[] };
  return data;
}

async function ask(url: string, key: string, init: { method?: string; body?: FormData }): Promise<unknown> {
  const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${key}` } });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
}
