// A process that asks for one chat after another over keep-alive connections, plain or streamed, and looks at nothing but
// where an answer begins and ends: a client library's cost would be measured as the gateway's on a small machine.
import { connect, type Socket } from "node:net";
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
const { hostname, port, host } = new URL(argument.origin);
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
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let head = "";
    let lengthLeft: number | null = null;
    let tail = "";
    let sentMs = 0;
    const next = (): void => {
      if (performance.now() - startedMs >= argument.seconds * 1000) {
        socket.destroy();
        return;
      }
      head = "";
      lengthLeft = null;
      tail = "";
      sentMs = performance.now();
      socket.write(request);
    };
    const finished = (): void => {
      const nowMs = performance.now();
      latenciesMs.push(nowMs - sentMs);
      longestGapMs = Math.max(longestGapMs, nowMs - (endedMs ?? nowMs));
      endedMs = nowMs;
      next();
    };
    const body = (text: string): void => {
      if (text === "") return;
      if (tail === "" && lengthLeft !== 0) firstMs.push(performance.now() - sentMs);
      tail = (tail + text).slice(-7);
      if (lengthLeft !== null) {
        lengthLeft -= text.length;
        if (lengthLeft <= 0) finished();
      } else if (tail === "\r\n0\r\n\r\n") finished();
    };
    socket.setEncoding("latin1");
    socket.on("connect", next);
    socket.on("data", (text: string) => {
      if (head.endsWith("\r\n\r\n")) return body(text);
      const all = head + text;
      const end = all.indexOf("\r\n\r\n");
      head = end === -1 ? all : all.slice(0, end + 4);
      if (end === -1) return;
      if (!head.startsWith("HTTP/1.1 200")) firstFault ??= all.slice(0, 1_000);
      const length = /\r\ncontent-length: *(\d+)/iu.exec(head)?.[1];
      lengthLeft = length === undefined ? null : Number(length);
      body(all.slice(end + 4));
    });
    socket.on("error", (error) => {
      firstFault ??= error.message;
    });
    socket.on("close", () => {
      if (performance.now() - startedMs < argument.seconds * 1000) firstFault ??= "a connection was closed";
      resolve();
    });
  });
}
