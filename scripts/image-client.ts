// What scripts/try-image.ts runs inside the container, where the gateway listens on the loopback interface only. Prints JSON.
//   ready             ends when the gateway is ready
//   submit N          submits N jobs with the bundled sample, ends when the first has succeeded; prints the ids
//   results ID,…      waits until each job has ended; prints the jobs
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

interface Job {
  readonly job_id: string;
  readonly status: string;
}

const JOBS = "/v1/transcription/jobs";
const [command, argument = ""] = process.argv.slice(2);

if (command === "ready") await untilReady();
else if (command === "submit") console.log(JSON.stringify(await submit(Number(argument))));
else if (command === "results") console.log(JSON.stringify(await Promise.all(argument.split(",").map(untilEnded))));
else throw new Error(`unknown command ${command}`);

async function untilReady(): Promise<void> {
  for (;;) {
    const isReady = await fetch("http://127.0.0.1:8080/readyz").then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await wait(200);
  }
}

async function submit(count: number): Promise<readonly string[]> {
  const audio = readFileSync("/app/sandbox/samples/dialogue.mp3");
  const jobs = await Promise.all(
    Array.from({ length: count }, async () => {
      const body = new FormData();
      body.append("file", new Blob([audio]), "dialogue.mp3");
      return (await ask(JOBS, { method: "POST", body })) as Job;
    }),
  );
  const ids = jobs.map(({ job_id }) => job_id);
  for (;;) {
    const { data } = (await ask(`${JOBS}?limit=100`)) as { readonly data: readonly Job[] };
    if (data.some(({ job_id, status }) => ids.includes(job_id) && status === "succeeded")) return ids;
  }
}

async function untilEnded(id: string): Promise<unknown> {
  for (;;) {
    const job = (await ask(`${JOBS}/${id}?wait=30`)) as Job;
    if (!["queued", "processing"].includes(job.status)) return job;
  }
}

async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
  const headers = { authorization: `Bearer ${readFileSync("/data/cli-key", "utf8").trim()}` };
  const response = await fetch(`http://127.0.0.1:8080${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
