// A process that uploads one recording, or asks for one address after another, over keep-alive connections, each sending its
// next request when it has its answer.
// Plain sockets and one shared body: a client library's cost would be measured as the gateway's on a small machine.
import { connect, type Socket } from "node:net";
import { childArgument, tellParent } from "./child.ts";
import { formAround, noiseWav } from "./wav.ts";

export interface LoadArgument {
  readonly origin: string;
  readonly request:
    | { readonly kind: "upload"; readonly path: string; readonly fileBytes: number }
    | { readonly kind: "get"; readonly paths: readonly string[] };
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  /** Both bounds end the load; requests under way are finished and counted. */
  readonly seconds: number;
  readonly maxRequests: number;
  readonly key: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  readonly statuses: Readonly<Record<string, number>>;
  /** The beginning of the first answer that was no success. */
  readonly firstFault: string | null;
}

const argument = childArgument() as LoadArgument;
const { hostname, port, host } = new URL(argument.origin);
const nextRequest = requestsOf(argument.request);

const latenciesMs: number[] = [];
const statuses: Record<string, number> = {};
let firstFault: string | null = null;
let begun = 0;
const startedMs = performance.now();

process.once("disconnect", () => process.exit(0));
await Promise.all(Array.from({ length: argument.connections }, () => run()));
const seconds = (performance.now() - startedMs) / 1000;
tellParent({ requests: latenciesMs.length, seconds, latenciesMs, statuses, firstFault } satisfies LoadResult);

async function run(): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const answers = answersOf(socket);
  while (begun < argument.maxRequests && performance.now() - startedMs < argument.seconds * 1000) {
    begun += 1;
    const sentMs = performance.now();
    socket.cork();
    for (const piece of nextRequest()) socket.write(piece);
    socket.uncork();
    const { value: answer } = await answers.next();
    latenciesMs.push(performance.now() - sentMs);
    const status = answer === undefined ? "closed" : answer.subarray(9, 12).toString("latin1");
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (!status.startsWith("2")) firstFault ??= answer?.subarray(0, 1_000).toString() ?? "the connection was closed";
    if (answer === undefined) return;
  }
  socket.destroy();
}

function requestsOf(request: LoadArgument["request"]): () => readonly Buffer[] {
  const own = Object.entries(argument.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = (method: string, path: string, more: string) =>
    Buffer.from(
      `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${argument.key}\r\n${own.join("")}${more}\r\n`,
    );
  if (request.kind === "upload") {
    const { contentType, body } = formAround(noiseWav(request.fileBytes));
    const type = `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`;
    const pieces = [head("POST", request.path, type), body];
    return () => pieces;
  }
  const all = request.paths.map((path) => [head("GET", path, "")]);
  let next = 0;
  return () => {
    const pieces = all[next % all.length] ?? [];
    next += 1;
    return pieces;
  };
}

/** Whole answers, one after the other; every server here sends a length. */
async function* answersOf(socket: Socket): AsyncGenerator<Buffer, undefined> {
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const headEnd = held.indexOf("\r\n\r\n");
      if (headEnd === -1) continue;
      const length = /\r\ncontent-length: *(\d+)/iu.exec(held.subarray(0, headEnd).toString("latin1"))?.[1];
      if (length === undefined) throw new Error("an answer without Content-Length");
      const end = headEnd + 4 + Number(length);
      if (held.length < end) continue;
      const answer = held.subarray(0, end);
      held = held.subarray(end);
      yield answer;
    }
  } catch (error) {
    firstFault ??= error instanceof Error ? error.message : "the connection broke";
  }
  return undefined;
}
