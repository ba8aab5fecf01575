// A process that replaces OpenAI's chat completions: a fixed answer at once or after a delay, or a stream with one write per chunk, so that the gateway is what is measured.
// Without `node:http`, which would use as much CPU as the bare forwarder.
import { createServer, type Socket } from "node:net";
import { contentLength } from "./ask-in-turn.ts";
import { TOOK } from "./took-mark.ts";
import { childArgument, serveParent } from "../measure/child.ts";

const { delayMs } = childArgument() as { readonly delayMs: number };
const CHUNKS = 64;
const WORDS = Array.from({ length: CHUNKS }, (_, index) => `word${index} `);
const USAGE = { prompt_tokens: 120, completion_tokens: CHUNKS, total_tokens: 120 + CHUNKS };
const HEAD = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench" };

const head = (more: string) =>
  `HTTP/1.1 200 OK\r\n${more}\r\nDate: ${new Date().toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\n\r\n`;
const completion = (content: string) =>
  JSON.stringify({
    ...HEAD,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: USAGE,
  });
const plain = (content: string) => {
  const body = completion(content);
  return `${head(`Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`)}${body}`;
};
const PLAIN = Buffer.from(plain(WORDS.join("")));
const [TOOK_START = "", TOOK_END = ""] = plain(`${TOOK.mark(0)}${WORDS.join("")}`).split(TOOK.mark(0));
const chunk = (data: string) => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`;
const event = (choices: readonly object[], more: object = {}) =>
  chunk(`data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices, ...more })}\n\n`);
const STREAM = [
  head("Content-Type: text/event-stream\r\nTransfer-Encoding: chunked"),
  ...WORDS.map((content) => event([{ index: 0, delta: { content }, finish_reason: null }])),
  event([{ index: 0, delta: {}, finish_reason: "stop" }]),
  event([], { usage: USAGE }),
  `${chunk("data: [DONE]\n\n")}0\r\n\r\n`,
];

const server = createServer({ noDelay: true }, (socket) => {
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text;
    if (!isWhole(received)) return;
    const isStream = received.includes('"stream":true');
    received = "";
    if (delayMs > 0) answerLater(socket);
    else if (isStream) stream(socket);
    else socket.write(PLAIN);
  });
  // The load generator disconnects at the end of its time, even during an answer.
  socket.on("error", () => socket.destroy());
});
serveParent(server);

/** A timer is up to two milliseconds late, depending on when it is set, so the answer says how long it took. */
function answerLater(socket: Socket): void {
  const receivedMs = performance.now();
  setTimeout(() => {
    socket.write(`${TOOK_START}${TOOK.mark(performance.now() - receivedMs)}${TOOK_END}`, "latin1");
  }, delayMs);
}

/** Every contender sends a Content-Length. */
function isWhole(request: string): boolean {
  const headEnd = request.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  const length = contentLength(request.slice(0, headEnd));
  if (length === null) throw new Error("a request without Content-Length");
  return request.length >= headEnd + 4 + length;
}

function stream(socket: Socket): void {
  let next = 0;
  const write = (): void => {
    if (socket.destroyed) return;
    socket.write(STREAM[next] ?? "");
    next += 1;
    if (next < STREAM.length) setImmediate(write);
  };
  write();
}
