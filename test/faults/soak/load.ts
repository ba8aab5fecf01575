// An open-loop load: starts a fixed number of requests per second, whether or not earlier ones were answered, up to a limit of requests in flight.
import { Agent, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { askHttp } from "../ask-http.ts";
import { type Asked, drawRequest, type Kind } from "./requests.ts";

export interface SoakLoad {
  /** Starts no more requests; resolves when those in flight are answered. */
  end(): Promise<void>;
  readonly sent: () => number;
  readonly inFlight: () => number;
  /** Requests not sent because too many were in flight. */
  readonly skipped: () => number;
  /** Answers by kind and status. */
  readonly answers: ReadonlyMap<string, number>;
  /** Unexpected answers, with their counts. */
  readonly faults: ReadonlyMap<string, number>;
  readonly acceptedJobs: ReadonlySet<string>;
}

export interface SoakLoadOptions {
  readonly origin: string;
  readonly perSecond: number;
  readonly random: () => number;
  readonly seed: number;
}

const MOST_IN_FLIGHT = 400;
const TICK_MS = 20;
const MOST_FAULTS = 50;

export function startSoakLoad({ origin, perSecond, random, seed }: SoakLoadOptions): SoakLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_IN_FLIGHT, maxFreeSockets: 50 });
  const inFlight = new Set<Promise<void>>();
  const answers = new Map<string, number>();
  const faults = new Map<string, number>();
  const acceptedJobs = new Set<string>();
  const over = new AbortController();
  let sentCount = 0;
  let skipped = 0;

  const judge = (kind: Kind, statuses: readonly number[], status: number | null, text: string): void => {
    const outcome = `${kind} ${status ?? "broken"}`;
    answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
    if (status === 202) acceptedJobs.add(/"job_id":"([^"]+)"/u.exec(text)?.[1] ?? "");
    if (status !== null && statuses.includes(status)) return;
    const message = /"message":"([^"]*)"/u.exec(text)?.[1] ?? text;
    const fault = `${kind}: ${status ?? "no answer"} ${message.slice(0, 200)}`;
    if (faults.has(fault) || faults.size < MOST_FAULTS) faults.set(fault, (faults.get(fault) ?? 0) + 1);
  };
  const ask = async ({ kind, question, hangUpMs, statuses }: Asked): Promise<void> => {
    if (hangUpMs !== null) return hangUp(origin, question, hangUpMs);
    const { status, text } = await askHttp(origin, agent, question);
    judge(kind, statuses, status, text);
  };
  const begin = (): void => {
    if (inFlight.size >= MOST_IN_FLIGHT) {
      skipped += 1;
      return;
    }
    sentCount += 1;
    const one: Promise<void> = ask(drawRequest(random, `soak-${seed}-${sentCount}`)).finally(() =>
      inFlight.delete(one),
    );
    inFlight.add(one);
  };
  const running = (async () => {
    const startedMs = performance.now();
    for (let startedCount = 0; !over.signal.aborted; await wait(TICK_MS)) {
      const dueCount = ((performance.now() - startedMs) / 1_000) * perSecond;
      for (; startedCount < dueCount; startedCount += 1) begin();
    }
  })();
  return {
    end: async () => {
      over.abort();
      await running;
      await Promise.all(inFlight);
      agent.destroy();
    },
    sent: () => sentCount,
    inFlight: () => inFlight.size,
    skipped: () => skipped,
    answers,
    faults,
    acceptedJobs,
  };
}

/** A caller that disconnects; its answer is not checked. */
async function hangUp(
  origin: string,
  { method, path, headers, body }: Asked["question"],
  afterMs: number,
): Promise<void> {
  const disconnection = Promise.withResolvers<void>();
  const outgoing = request(`${origin}${path}`, { agent: false, method, headers });
  outgoing.on("response", (response) => response.on("error", () => undefined).resume());
  outgoing.on("error", () => undefined);
  outgoing.once("close", () => disconnection.resolve());
  outgoing.end(body);
  const timer = setTimeout(() => outgoing.destroy(), afterMs);
  await disconnection.promise;
  clearTimeout(timer);
}
