// A load-generating process that uploads one recording, or requests one address, repeatedly over keep-alive connections. It uses plain sockets and one shared
// body: on a small machine, a client library's cost would be measured as the gateway's.
import { type Answered, askInTurn } from "../upstream/ask-in-turn.ts";
import { childArgument, tellParent } from "./child.ts";
import { formAround, noiseWav } from "../upstream/wav.ts";

export interface LoadArgument {
  readonly origin: string;
  readonly request:
    | { readonly kind: "upload"; readonly path: string; readonly fileBytes: number }
    | { readonly kind: "get"; readonly paths: readonly string[] };
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  /** The load ends at whichever bound comes first; requests in flight are finished and counted. */
  readonly seconds: number;
  readonly maxRequests: number;
  readonly key: string;
  /** Instead of `key`: one after the other, or one for each of the paths. */
  readonly keys?: readonly string[];
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  readonly statuses: Readonly<Record<string, number>>;
  /** The start of the first failed answer. */
  readonly firstFault: string | null;
}

const argument = childArgument() as LoadArgument;
const { host } = new URL(argument.origin);
const nextRequest = requestsOf(argument.request);

const latenciesMs: number[] = [];
const statuses: Record<string, number> = {};
let startedCount = 0;
const startedMs = performance.now();
const endMs = startedMs + argument.seconds * 1000;

process.once("disconnect", () => process.exit(0));
const faults = await Promise.all(
  Array.from({ length: argument.connections }, () =>
    askInTurn({ origin: argument.origin, success: "2", next, answered: recordAnswer }),
  ),
);
const seconds = (performance.now() - startedMs) / 1000;
const firstFault = faults.find((fault) => fault !== null) ?? null;
tellParent({ requests: latenciesMs.length, seconds, latenciesMs, statuses, firstFault } satisfies LoadResult);

function next(): readonly Buffer[] | null {
  if (startedCount >= argument.maxRequests || performance.now() >= endMs) return null;
  startedCount += 1;
  return nextRequest();
}

function recordAnswer({ status, sentMs, endedMs }: Answered): void {
  latenciesMs.push(endedMs - sentMs);
  statuses[status] = (statuses[status] ?? 0) + 1;
}

function requestsOf(request: LoadArgument["request"]): () => readonly Buffer[] {
  const own = Object.entries(argument.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const keys = argument.keys ?? [argument.key];
  const head = (method: string, path: string, key: string, more: string) =>
    Buffer.from(
      `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n${own.join("")}${more}\r\n`,
    );
  if (request.kind === "upload") {
    const { contentType, body } = formAround(noiseWav(request.fileBytes));
    const type = `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`;
    return inTurn(keys.map((key) => [head("POST", request.path, key, type), body]));
  }
  return inTurn(request.paths.map((path, index) => [head("GET", path, keys[index % keys.length] ?? "", "")]));
}

function inTurn(all: readonly (readonly Buffer[])[]): () => readonly Buffer[] {
  let next = 0;
  return () => {
    const pieces = all[next % all.length] ?? [];
    next += 1;
    return pieces;
  };
}
