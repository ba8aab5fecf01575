// A process in the place of OpenAI's chat completions: a fixed answer at once, or as a stream whose every chunk is a write of
// its own, so that what is measured is the gateway.
import { createServer, type ServerResponse } from "node:http";
import { serveParent } from "./child.ts";

const CHUNKS = 64;
const WORDS = Array.from({ length: CHUNKS }, (_, index) => `word${index} `);
const USAGE = { prompt_tokens: 120, completion_tokens: CHUNKS, total_tokens: 120 + CHUNKS };
const HEAD = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench" };

const PLAIN = Buffer.from(
  JSON.stringify({
    ...HEAD,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: WORDS.join("") }, finish_reason: "stop" }],
    usage: USAGE,
  }),
);
const event = (choices: readonly object[], more: object = {}) =>
  `data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices, ...more })}\n\n`;
const STREAM = [
  ...WORDS.map((content) => event([{ index: 0, delta: { content }, finish_reason: null }])),
  event([{ index: 0, delta: {}, finish_reason: "stop" }]),
  event([], { usage: USAGE }),
  "data: [DONE]\n\n",
];

const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, (request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    body += text;
  });
  request.on("end", () => {
    if (body.includes('"stream":true')) stream(response);
    else response.writeHead(200, { "content-type": "application/json", "content-length": PLAIN.length }).end(PLAIN);
  });
});
serveParent(server);

function stream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let next = 0;
  const write = (): void => {
    if (response.destroyed) return;
    response.write(STREAM[next]);
    next += 1;
    if (next < STREAM.length) setImmediate(write);
    else response.end();
  };
  write();
}
