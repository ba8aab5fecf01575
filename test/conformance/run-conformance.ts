// The run: every operation of both listeners, requests as documented and broken ones, each answer held against the document.
import { Agent } from "node:http";
import * as fc from "fast-check";
import { nameOf, type Operation, operationsOf } from "./document.ts";
import { hintsFor, knownAtFirst, learn, note, startInstallation } from "./installation.ts";
import { isJson, judge } from "./judge-answer.ts";
import { draftOf, type Drawn, type Request, requestOf } from "./requests.ts";
import { type Answer, send } from "./send-request.ts";
import { DOCUMENTED, type Trial } from "./trial.ts";
import { brokenTrials } from "./trials.ts";
import { createValidators } from "./validators.ts";

export interface ConformanceOptions {
  readonly seed: number;
  /** Rounds over every operation. */
  readonly rounds: number;
  /** One wrong method for each operation instead of all. */
  readonly isShort?: boolean;
  /** Operations whose name contains it; all without. */
  readonly only?: string;
}

export interface ConformanceReport {
  readonly operations: number;
  readonly requests: number;
  readonly violations: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
  /** Operations that never gave a good answer. */
  readonly neverGood: readonly string[];
}

/** Neighbouring seeds must not draw the same. */
const SPREAD = 0x9e37_79b1;
const MOST_ATTEMPTS = 8;
/** Never ends by itself. */
const ENDLESS = new Set(["streamSttWebhook"]);

export async function runConformance({
  seed,
  rounds,
  isShort = false,
  only = "",
}: ConformanceOptions): Promise<ConformanceReport> {
  const gateway = await startInstallation();
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const validators = createValidators();
  const known = knownAtFirst();
  const operations = [...operationsOf("public"), ...operationsOf("admin")];
  const chosen = operations.filter((operation) => nameOf(operation).includes(only)).toSorted(byDestruction);
  const violations: string[] = [];
  const statuses: Record<string, number> = {};
  const answered = new Set<Operation>();
  const refusals = new Map<Operation, string>();
  let requests = 0;
  const draw = drawing(seed);
  /** Null when none came. */
  const ask = async (operation: Operation, trial: Trial): Promise<Answer | null> => {
    const { listener, operationId } = operation;
    const origin = listener === "admin" ? gateway.adminOrigin : gateway.origin;
    const label = `${nameOf(operation)} · ${trial.name}`;
    requests += 1;
    const answer = await send(origin, trial.request, agent, ENDLESS.has(operationId)).catch((error: Error) => error);
    if (answer instanceof Error) {
      violations.push(`${label}: no answer, ${answer.message}`);
      return null;
    }
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    for (const fault of judge(operation, trial, answer, validators))
      violations.push(`${label}: ${fault}\n    ${describe(trial.request)}\n    ${answer.text.slice(0, 400)}`);
    return answer;
  };

  /** Requests as documented, until one gets a good answer: what is broken afterwards is then one that would have worked. */
  const goodRequest = async (operation: Operation) => {
    for (let attempt = 1; ; attempt += 1) {
      const draft = draw(draftOf(operation, hintsFor(known), known));
      const request = requestOf(operation, draft);
      const answer = await ask(operation, { name: "as documented", request, expected: DOCUMENTED });
      if (answer !== null && answer.status < 300) {
        answered.add(operation);
        if (isJson(answer)) learn(known, operation, request.target, JSON.parse(answer.text));
        if (request.target.startsWith("/v1/") && operation.method === "POST")
          for (const at of ["/v1/requests", "/admin/v1/requests", "/workspace/acme/requests"])
            note(known, at, String(answer.headers["x-request-id"]));
        return { draft, request };
      }
      if (answer !== null) refusals.set(operation, answer.text);
      if (attempt === MOST_ATTEMPTS) return { draft, request };
    }
  };

  try {
    for (let round = 0; round < rounds; round += 1)
      for (const operation of chosen) {
        if (operation.path.includes("requests")) await gateway.app.requestLog.flush();
        const allowed = operations
          .filter(({ listener, path }) => listener === operation.listener && path === operation.path)
          .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
        const good = await goodRequest(operation);
        for (const trial of brokenTrials(operation, good, { draw, validators, allowed, isShort }))
          await ask(operation, trial);
      }
  } finally {
    agent.destroy();
    await gateway.close();
  }
  return {
    operations: chosen.length,
    requests,
    violations,
    statuses,
    neverGood: chosen
      .filter((operation) => !answered.has(operation))
      .map((operation) => `${nameOf(operation)}: ${refusals.get(operation)?.slice(0, 300) ?? "nothing"}`),
  };
}

/** What makes comes before what reads, and what deletes at the end, so that there is something to read. */
function byDestruction(one: Operation, other: Operation): number {
  return turnOf(one) - turnOf(other);
}

function turnOf({ method, path }: Operation): number {
  // What has no name of its own is made by PUT.
  if (method === "PUT" && !path.endsWith("}")) return 0;
  return 1 + ["POST", "PUT", "GET", "DELETE"].indexOf(method);
}

function drawing(seed: number): Drawn {
  let drawn = 0;
  return (arbitrary) => {
    drawn += 1;
    const [value] = fc.sample(arbitrary, { seed: Math.imul(seed, SPREAD) + drawn, numRuns: 1 });
    return value as never;
  };
}

function describe({ method, target, headers, body }: Request): string {
  const shown = body === null ? "" : Buffer.from(body).toString("latin1").slice(0, 300);
  return `${method} ${target} ${JSON.stringify(headers)} ${shown}`;
}
