// A load-generating process for chats over keep-alive connections, plain or streamed. It only detects the start and end of answers: on a small machine, a
// client library's cost would be measured as the gateway's.
import { type Answered, askInTurn } from "./upstream/ask-in-turn.ts";
import { childArgument, tellParent } from "./measure/child.ts";

export interface ChatLoadArgument {
  readonly origin: string;
  readonly path: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  /** Of load that is counted. */
  readonly seconds: number;
  /** Of load before, which is not counted: connections are opened and code is compiled. */
  readonly warmUpSeconds: number;
  /** Whether latencies leave out the time that the stand-in took. */
  readonly subtractsTook: boolean;
}

export interface ChatLoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  /** Time to the first byte of the body. */
  readonly firstMs: readonly number[];
  /** Longest time without a completed answer on any connection. */
  readonly longestGapMs: number;
  readonly firstFault: string | null;
}

const argument = childArgument() as ChatLoadArgument;
const { host } = new URL(argument.origin);
const headers = Object.entries(argument.headers).map(([name, value]) => `${name}: ${value}\r\n`);
const request = [
  Buffer.from(
    `POST ${argument.path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${argument.key}\r\nContent-Type: application/json\r\n${headers.join("")}Content-Length: ${Buffer.byteLength(argument.body)}\r\n\r\n${argument.body}`,
  ),
];

const latenciesMs: number[] = [];
const firstMs: number[] = [];
let longestGapMs = 0;
let lastEndedMs: number | null = null;
const startedMs = performance.now();
const countFromMs = startedMs + argument.warmUpSeconds * 1000;
const endMs = countFromMs + argument.seconds * 1000;
let firstUnmarked: string | null = null;

process.once("disconnect", () => process.exit(0));
const faults = await Promise.all(
  Array.from({ length: argument.connections }, () =>
    askInTurn({
      origin: argument.origin,
      success: "200",
      next: () => (performance.now() < endMs ? request : null),
      answered: recordAnswer,
      readsTook: argument.subtractsTook,
    }),
  ),
);
const seconds = (performance.now() - countFromMs) / 1000;
tellParent({
  requests: latenciesMs.length,
  seconds,
  latenciesMs,
  firstMs,
  longestGapMs,
  firstFault: faults.find((fault) => fault !== null) ?? firstUnmarked,
} satisfies ChatLoadResult);

function recordAnswer(answer: Answered): void {
  const { sentMs, endedMs, tookMs } = answer;
  if (argument.subtractsTook && tookMs === 0) firstUnmarked ??= "an answer did not say how long the stand-in took";
  if (sentMs < countFromMs) return;
  if (answer.firstMs !== null) firstMs.push(answer.firstMs - sentMs);
  latenciesMs.push(endedMs - sentMs - tookMs);
  longestGapMs = Math.max(longestGapMs, endedMs - (lastEndedMs ?? endedMs));
  lastEndedMs = endedMs;
}
