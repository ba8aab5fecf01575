// Cancels jobs while they complete [jobs.cancel-race]. The answer of the cancellation, later polls, and the stored state agree; a cancellation that lost the
// race returns `succeeded`.
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { noiseWav } from "../../../bench/upstream/wav.ts";
import { KEY, sandboxConnections, startGateway, type TestGateway } from "../../harness/gateway.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { seeded } from "../seeded.ts";

interface View {
  readonly job_id: string;
  readonly status: string;
  readonly cancel_requested: boolean;
  readonly result: unknown;
}

interface Stored {
  readonly status: string;
  readonly events: number;
  readonly charged: number;
}

interface Race {
  readonly cancelled: string;
  readonly final: string;
  readonly calls: number;
  readonly found: readonly string[];
}

const AT_ONCE = 8;
const AUDIO_BYTES = 16_044;
/** Duration of the provider's answer; cancellations come within a slightly longer range. */
const PROVIDER_MS = 30;
const CANCEL_WITHIN_MS = 120;

export async function runCancelRaces({ n, seed }: Pick<FaultOptions, "n" | "seed">): Promise<Trials> {
  const started = performance.now();
  const gateway = await startGateway({
    file: (sandbox) => ({
      prices: [
        { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "0.29", source: "test", as_of: "2026-11-01" },
      ],
      connections: sandboxConnections(sandbox),
      routes: [{ id: "speech", targets: [{ connection: "dg", model: "nova-3" }] }],
      workspaces: [
        {
          id: "acme",
          apps: [{ id: "notes", route: "speech", keys: [{ id: "notes-key", secret: KEY, scopes: ["jobs"] }] }],
        },
      ],
    }),
  });
  try {
    gateway.sandbox.addFault({ fault: { kind: "delay", ms: PROVIDER_MS } });
    const random = seeded(seed);
    const races: Race[] = [];
    let next = 0;
    const racer = async () => {
      while (next < n) {
        next += 1;
        const [index, delayMs] = [next, random() * CANCEL_WITHIN_MS];
        races.push(await race(gateway, `race${index}`, delayMs));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, racer));
    const counts = Object.groupBy(
      races,
      ({ cancelled: cancelAnswer, final }) => `answered ${cancelAnswer}, ended ${final}`,
    );
    return {
      engine: "postgres",
      n,
      violations: races.flatMap(({ found }) => found),
      seconds: (performance.now() - started) / 1000,
      figures: Object.fromEntries(Object.entries(counts).map(([outcome, list]) => [outcome, list?.length ?? 0])),
    };
  } finally {
    await gateway.close();
  }
}

async function race(gateway: TestGateway, term: string, delayMs: number): Promise<Race> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(noiseWav(AUDIO_BYTES))], { type: "audio/wav" }), "audio.wav");
  form.append("keyterms", term);
  const { job_id: jobId } = await ask(gateway, "POST", "", form);
  await wait(delayMs);
  const cancelAnswer = await ask(gateway, "DELETE", `/${jobId}`);
  const final = await ask(gateway, "GET", `/${jobId}?wait=60`);
  const again = await ask(gateway, "DELETE", `/${jobId}`);
  const stored = await read(gateway, jobId);
  const calls = gateway.sandbox.calls.filter(({ query }) => query.some(([, value]) => value === term)).length;
  return {
    cancelled: cancelAnswer.status,
    final: final.status,
    calls,
    found: judgeRace({ cancelled: cancelAnswer, final, again, stored, calls }),
  };
}

function judgeRace(race: {
  readonly cancelled: View;
  readonly final: View;
  readonly again: View;
  readonly stored: Stored;
  readonly calls: number;
}): readonly string[] {
  const { cancelled: cancelAnswer, final, again, stored, calls } = race;
  const found: string[] = [];
  const fault = (text: string) => found.push(`${cancelAnswer.job_id} ${text}`);
  if (cancelAnswer.status === "processing") {
    if (!cancelAnswer.cancel_requested) fault("was answered processing without its flag");
  } else if (cancelAnswer.status !== final.status)
    fault(`was answered ${cancelAnswer.status} and ended ${final.status}`);
  if (final.status !== "cancelled" && final.status !== "succeeded") fault(`ended ${final.status}`);
  if (final.status === "succeeded" && final.result === null) fault("succeeded with no result");
  if (final.status === "cancelled" && final.result !== null) fault("is cancelled and has a result");
  if (again.status !== final.status) fault(`ended ${final.status}, and a second cancel was answered ${again.status}`);
  if (stored.status !== final.status) fault(`was polled as ${final.status} and is stored as ${stored.status}`);
  if (stored.events !== 1) fault(`has ${stored.events} events`);
  if (calls > 1) fault(`was submitted ${calls} times`);
  if (final.status === "succeeded" && stored.charged !== 1) fault(`succeeded and was charged ${stored.charged} times`);
  if (final.status === "cancelled" && stored.charged > calls) fault("was charged for a call that no provider received");
  return found;
}

async function read({ database }: TestGateway, jobId: string): Promise<Stored> {
  const { rows } = await sql<Stored>`
    select status, (select count(*)::int from webhook_events where job_id = jobs.id) as events,
      (select count(*)::int from attempts where request_id = jobs.request_id and charge_nano_usd > 0) as charged
    from jobs where id = ${jobId}`.execute(database.db);
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no job ${jobId}`);
  return row;
}

async function ask(gateway: TestGateway, method: string, path: string, body?: FormData): Promise<View> {
  const response = await fetch(`${gateway.origin}/v1/transcription/jobs${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}` },
    ...(body === undefined ? {} : { body }),
  });
  const view = (await response.json()) as View;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(view)}`);
  return view;
}
