// Checks database notifications after a failover: a revocation reaches the other gateway, and a job is claimed without waiting for a poll.
import { setTimeout as wait } from "node:timers/promises";
import { median } from "../../../bench/measure/report.ts";
import { askHttp } from "../ask-http.ts";
import type { Gateways } from "../gateways.ts";
import { submit } from "./keyed-client.ts";
import { type OpenDatabase } from "../../harness/postgres/database.ts";

export interface Notified {
  readonly revokedMs: number;
  /** From a job's acceptance to its claim by a worker. */
  readonly pickedUpMs: readonly number[];
}

export interface Secrets {
  readonly app: string;
  readonly admin: string;
}

const JOBS = 12;
const REVOKED_WITHIN_MS = 5_000;
/** Polls come every 2 s: jobs that wait for one are claimed after a second in the median. */
const PICKED_UP_WITHIN_MS = 500;
const GIVEN_UP_MS = 30_000;
const POLL_MS = 20;

export async function measureNotified(
  { origins, database }: Pick<Gateways, "origins" | "database">,
  secrets: Secrets,
  name: string,
): Promise<Notified> {
  const revokedMs = await revoke(origins, secrets);
  const started = new Date();
  for (let index = 0; index < JOBS; index += 1)
    await submit(origins, secrets.app, { kind: "job", name: `${name}-${index}-end`, isImpatient: false }, index);
  return { revokedMs, pickedUpMs: await pickUps(database, started) };
}

export function lateNotified({ revokedMs, pickedUpMs }: Notified): readonly string[] {
  const late: string[] = [];
  if (revokedMs > REVOKED_WITHIN_MS) late.push(`a key was revoked after ${revokedMs.toFixed(0)} ms`);
  const typical = median(pickedUpMs);
  if (!(typical <= PICKED_UP_WITHIN_MS)) late.push(`jobs were taken up after ${typical.toFixed(0)} ms in the median`);
  return late;
}

/** Created and used at both gateways, deleted at the first, used again at the second. */
async function revoke([first = "", second = ""]: readonly string[], { admin }: Secrets): Promise<number> {
  const manage = (method: string, path: string, body?: object) =>
    askHttp(first, false, {
      method,
      path: `/workspace/acme${path}`,
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
  const created = await manage("POST", "/keys", { name: "short-lived", app: "notes", scopes: ["transcribe"] });
  const { id, secret } = JSON.parse(created.text) as { readonly id: string; readonly secret: string };
  const isAccepted = async (origin: string): Promise<boolean> => {
    const headers = { authorization: `Bearer ${secret}` };
    return (await askHttp(origin, false, { method: "GET", path: "/v1/me", headers })).status === 200;
  };
  if (!(await isAccepted(first)) || !(await isAccepted(second))) return Number.POSITIVE_INFINITY;
  await manage("DELETE", `/keys/${id}`);
  const startedMs = performance.now();
  while ((await isAccepted(second)) && performance.now() - startedMs < GIVEN_UP_MS) await wait(POLL_MS);
  return performance.now() - startedMs;
}

async function pickUps({ db }: OpenDatabase, since: Date): Promise<readonly number[]> {
  const lastMs = performance.now() + GIVEN_UP_MS;
  for (;;) {
    const jobs = await db
      .selectFrom("jobs")
      .select(["created_at", "started_at"])
      .where("created_at", ">=", since)
      .execute();
    const pickedUpTimes = jobs.flatMap(({ created_at: from, started_at: to }) =>
      to === null ? [] : [Number(to) - Number(from)],
    );
    if (pickedUpTimes.length === JOBS) return pickedUpTimes;
    if (performance.now() > lastMs) return [...pickedUpTimes, Number.POSITIVE_INFINITY];
    await wait(POLL_MS);
  }
}
