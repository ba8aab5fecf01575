// A process that asks for one chat after another over keep-alive connections, plain or streamed, and looks at nothing but
// where an answer begins and ends: a client library's cost would be measured as the gateway's on a small machine.
import { Answers, connectReading } from "./answers.ts";
import { childArgument, tellParent } from "./child.ts";

export interface ChatLoadArgument {
  readonly origin: string;
  readonly path: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface ChatLoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  /** To the first byte behind the head. */
  readonly firstMs: readonly number[];
  /** In which no answer ended, on none of the connections. */
  readonly longestGapMs: number;
  readonly firstFault: string | null;
}

const argument = childArgument() as ChatLoadArgument;
const { host } = new URL(argument.origin);
const headers = Object.entries(argument.headers).map(([name, value]) => `${name}: ${value}\r\n`);
const request = Buffer.from(
  `POST ${argument.path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${argument.key}\r\nContent-Type: application/json\r\n${headers.join("")}Content-Length: ${Buffer.byteLength(argument.body)}\r\n\r\n${argument.body}`,
);

const latenciesMs: number[] = [];
const firstMs: number[] = [];
let firstFault: string | null = null;
let longestGapMs = 0;
let endedMs: number | null = null;
const startedMs = performance.now();
const endMs = startedMs + argument.seconds * 1000;

process.once("disconnect", () => process.exit(0));
await Promise.all(Array.from({ length: argument.connections }, () => run()));
const seconds = (performance.now() - startedMs) / 1000;
tellParent({
  requests: latenciesMs.length,
  seconds,
  latenciesMs,
  firstMs,
  longestGapMs,
  firstFault,
} satisfies ChatLoadResult);

function run(): Promise<void> {
  return new Promise((resolve) => {
    const answers = new Answers();
    let sentMs = 0;
    let hasBegun = false;
    const next = (): void => {
      sentMs = performance.now();
      hasBegun = false;
      if (sentMs < endMs) socket.write(request);
      else socket.destroy();
    };
    const read = (text: string): void => {
      const hasEnded = answers.take(text);
      if (hasEnded || !hasBegun) came(hasEnded);
    };
    const came = (hasEnded: boolean): void => {
      const nowMs = performance.now();
      if (!hasBegun && answers.hasBody) {
        hasBegun = true;
        firstMs.push(nowMs - sentMs);
      }
      if (!hasEnded) return;
      firstFault ??= answers.fault;
      latenciesMs.push(nowMs - sentMs);
      longestGapMs = Math.max(longestGapMs, nowMs - (endedMs ?? nowMs));
      endedMs = nowMs;
      next();
    };
    const socket = connectReading(argument.origin, read);
    socket.on("connect", next);
    socket.on("error", (error) => {
      firstFault ??= error.message;
    });
    socket.on("close", () => {
      if (performance.now() < endMs) firstFault ??= "a connection was closed";
      resolve();
    });
  });
}
