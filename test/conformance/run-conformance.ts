// The run: every operation of both listeners, requests as documented and broken ones, each answer held against the document.
import { Agent, request as httpRequest } from "node:http";
import * as fc from "fast-check";
import { nameOf, type Operation, operationsOf } from "./document.ts";
import { hintsFor, knownAtFirst, learn, note, startInstallation } from "./installation.ts";
import { draftOf, type Drawn, type Request, requestOf } from "./requests.ts";
import { DOCUMENTED, type Trial } from "./trial.ts";
import { brokenTrials } from "./trials.ts";
import { createValidators, type Validators } from "./validators.ts";

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

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** Neighbouring seeds must not draw the same. */
const SPREAD = 0x9e37_79b1;
const MOST_ATTEMPTS = 8;
const SILENCE_MS = 20_000;
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
    const told = `${nameOf(operation)} · ${trial.name}`;
    requests += 1;
    const answer = await send(origin, trial.request, agent, ENDLESS.has(operationId)).catch((error: Error) => error);
    if (answer instanceof Error) {
      violations.push(`${told}: no answer, ${answer.message}`);
      return null;
    }
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    for (const fault of judge(operation, trial, answer, validators))
      violations.push(`${told}: ${fault}\n    ${describe(trial.request)}\n    ${answer.text.slice(0, 400)}`);
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

function judge(
  operation: Operation,
  { request, expected }: Trial,
  answer: Answer,
  validators: Validators,
): readonly string[] {
  const faults: string[] = [];
  const { status, headers } = answer;
  const isHead = request.method === "HEAD";
  const [mediaType = ""] = String(headers["content-type"] ?? "").split(";");
  const code = isHead || !isJson(answer) ? null : codeOf(answer);
  if (!/^req_[0-9a-z]{26}$/u.test(String(headers["x-request-id"]))) faults.push(`${status} without a request id`);
  // That a provider will not have something its own rules forbid is an answer; every other failure here is ours.
  if (status === 500 || ((status === 502 || status === 504) && code !== "PROVIDER_REJECTED"))
    faults.push(`${status} ${code ?? ""}`);
  if (status >= 400) faults.push(...retryFaults(answer));
  if (status === 401 && headers["www-authenticate"] !== "Bearer") faults.push("401 without WWW-Authenticate");
  switch (expected.kind) {
    case "no endpoint":
      // Judged after the head: an unknown path with no key is 404 all the same.
      if (![404, 405, 400].includes(status)) faults.push(`${status} at a path that the document does not have`);
      return faults;
    case "method": {
      const listed = String(headers["allow"] ?? "")
        .split(", ")
        .toSorted();
      if (status !== 405) faults.push(`${status} instead of 405`);
      else if (listed.join() !== expected.allowed.toSorted().join())
        faults.push(`Allow says ${listed.join()}, the document ${expected.allowed.join()}`);
      return faults;
    }
    case "status":
      if (!expected.statuses.includes(status))
        faults.push(`${status} ${code ?? ""} instead of ${expected.statuses.join(" or ")}`);
      break;
    case "refused":
      if (status < 400) faults.push(`taken with ${status}`);
      break;
    case "head":
      if (answer.text !== "") faults.push("a body to HEAD");
      return operation.responses[String(status)] === undefined ? [...faults, `${status} is not documented`] : faults;
    case "documented":
      break;
  }
  return [...faults, ...undocumented(operation, answer, mediaType, code, validators)];
}

function undocumented(
  operation: Operation,
  answer: Answer,
  mediaType: string,
  code: string | null,
  validators: Validators,
): readonly string[] {
  const response = operation.responses[String(answer.status)];
  if (response === undefined) return [`${answer.status} ${code ?? ""} is not documented`];
  if (code !== null && !response.description.includes(`\`${code}\``))
    return [`${code} is not documented at ${answer.status}`];
  const { content = {} } = response;
  if (Object.keys(content).length === 0) return answer.text === "" ? [] : ["a body where none is documented"];
  if (content[mediaType] === undefined) return [`${answer.status} as ${mediaType}, which is not documented`];
  const bodies = bodiesIn(answer.text, mediaType, content[mediaType].schema.type === "string");
  const bad = bodies
    .map((body) => validators.judge(operation, answer.status, mediaType, body))
    .find((fault) => fault !== null);
  return bad === undefined ? [] : [`the body of ${answer.status} is not as documented: ${bad}`];
}

/** What the schema is about: the JSON, the text, or the data of each event. */
function bodiesIn(text: string, mediaType: string, isText: boolean): readonly unknown[] {
  if (isText) return [text];
  if (mediaType !== "text/event-stream") return [JSON.parse(text)];
  return [...text.matchAll(/^data: ?(.+)$/gmu)].map(([, data = ""]) => JSON.parse(data) as unknown);
}

function retryFaults({ headers, text, status }: Answer): readonly string[] {
  const says = headers["x-should-retry"];
  if (says !== "true" && says !== "false") return [`${status} without X-Should-Retry`];
  if ((headers["retry-after"] !== undefined) !== (says === "true"))
    return [`Retry-After and X-Should-Retry: ${says} disagree`];
  const body = /"retryable":(true|false)/u.exec(text)?.[1];
  return body === undefined || body === says ? [] : ["the body says otherwise about a retry"];
}

function isJson({ headers }: Answer): boolean {
  return String(headers["content-type"]).includes("json");
}

function codeOf({ status, text }: Answer): string | null {
  if (status < 400) return null;
  const body = JSON.parse(text) as { readonly code?: string; readonly error?: { readonly code: string } };
  return body.error?.code ?? body.code ?? null;
}

function describe({ method, target, headers, body }: Request): string {
  const shown = body === null ? "" : Buffer.from(body).toString("latin1").slice(0, 300);
  return `${method} ${target} ${JSON.stringify(headers)} ${shown}`;
}

function send(
  origin: string,
  { method, target, headers, body }: Request,
  agent: Agent,
  isEndless: boolean,
): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const length: Record<string, string> = body === null ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, method, path: target, agent, headers: { ...headers, ...length } },
      (response) => {
        const chunks: Buffer[] = [];
        const done = () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          });
        if (isEndless && response.statusCode === 200) {
          done();
          response.destroy();
          return;
        }
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("end", done);
        response.once("error", reject);
      },
    );
    sent.once("error", (error) => reject(new Error(`${method} ${target}: ${error.message}`, { cause: error })));
    // Waiting jobs say so; nothing else may hang.
    sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error(`nothing came for ${SILENCE_MS} ms`)));
    sent.end(body ?? undefined);
  });
}
