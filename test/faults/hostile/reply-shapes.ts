// The replies of a hostile provider: bodies of 64 MiB that cost a reader far more than their size, in each way that JSON and event streams allow.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";

interface Body {
  readonly contentType?: string;
  readonly encoding?: string;
  readonly start: string;
  /** Repeated until the body has its size. */
  readonly block: Buffer;
  readonly end: string;
}

const BODY_BYTES = 63 * 1_048_576;
const BLOCK_BYTES = 65_536;
const block = (unit: string): Buffer => Buffer.from(unit.repeat(Math.ceil(BLOCK_BYTES / unit.length)));
const WORD = '{"word":"a","start":0,"end":0},';
const DELTA = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
const EVENTS = "text/event-stream";

const BODIES: Readonly<Record<string, Body>> = {
  "empty objects": { start: "[", block: block("{},"), end: "{}]" },
  "ten million words": {
    start: '{"metadata":{},"results":{"channels":[{"alternatives":[{"transcript":"a","words":[',
    block: block(WORD),
    end: `${WORD.slice(0, -1)}]}]}]}}`,
  },
  numbers: { start: '{"choices":[', block: block("1,"), end: "1]}" },
  "one string": { start: '{"text":"', block: block("a"), end: '"}' },
  "brackets without end": { start: "", block: block("["), end: "" },
  "deltas without end": { contentType: EVENTS, start: "", block: block(DELTA), end: "data: [DONE]\n\n" },
  "comments without end": { contentType: EVENTS, start: "", block: block(": ping\n\n"), end: "" },
  "one long event": { contentType: EVENTS, start: "data: [", block: block("{},"), end: "{}]\n\n" },
  compressed: { encoding: "gzip", start: "", block: gzipSync(block("{},")), end: "" },
};
/** Declares its whole length, and never finishes sending. */
const DRIP = "slow drip";

export const REPLY_SHAPES: readonly string[] = [...Object.keys(BODIES), DRIP];

export interface HostileReplies extends AsyncDisposable {
  /** Of the connection whose calls are answered with one shape. */
  urlOf(shape: string, connection: number): string;
  /** Number of received requests. */
  reached(): number;
}

export async function startHostileReplies(): Promise<HostileReplies> {
  const sockets = new Set<Socket>();
  let reached = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    // The headers suffice to begin; the rest is read, so that the caller is never blocked.
    socket.once("data", (head: Buffer) => {
      reached += 1;
      const shape = REPLY_SHAPES[Number(/^POST \/(\d+)-/u.exec(head.toString("latin1"))?.[1])];
      void answer(socket, shape ?? DRIP);
    });
    socket.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (shape, connection) => `http://127.0.0.1:${port}/${REPLY_SHAPES.indexOf(shape)}-${connection}`,
    reached: () => reached,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(socket: Socket, shape: string): Promise<void> {
  const body = BODIES[shape];
  if (body === undefined) return drip(socket);
  const { contentType = "application/json", encoding, start, block: unit, end } = body;
  const encoded = encoding === undefined ? "" : `content-encoding: ${encoding}\r\n`;
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\n${encoded}transfer-encoding: chunked\r\n\r\n`);
  const chunkBytes = chunk(unit);
  if (start !== "") socket.write(chunk(Buffer.from(start)));
  for (let sentBytes = 0; sentBytes < BODY_BYTES && !socket.destroyed; sentBytes += unit.length)
    if (!socket.write(chunkBytes)) await drained(socket);
  if (!socket.destroyed) socket.end(`${end === "" ? "" : chunk(Buffer.from(end)).toString("latin1")}0\r\n\r\n`);
}

async function drip(socket: Socket): Promise<void> {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n[`);
  const little = Buffer.from("{},".repeat(400));
  while (!socket.destroyed) {
    socket.write(little);
    await wait(100);
  }
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      socket.off("drain", over);
      socket.off("close", over);
      resolve();
    };
    socket.once("drain", over);
    socket.once("close", over);
  });
}
