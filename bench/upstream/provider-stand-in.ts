// A process that replaces Deepgram: reads the whole body and returns a fixed reply at once, so that the gateway is what is measured. The sandbox measures audio
// and would be the bottleneck.
import { createServer } from "node:http";
import { serveParent } from "../measure/child.ts";

const WORDS = Array.from({ length: 80 }, (_, index) => ({
  word: `word${index}`,
  punctuated_word: index % 10 === 9 ? `Word${index}.` : `word${index}`,
  start: index * 0.4,
  end: index * 0.4 + 0.35,
  confidence: 0.99,
}));
const REPLY = Buffer.from(
  JSON.stringify({
    metadata: {
      request_id: "00000000-0000-4000-8000-000000000000",
      duration: 32.768,
      channels: 1,
      models: ["m"],
      model_info: { m: { name: "general-nova-3", version: "2026-01-01.0", arch: "nova-3" } },
    },
    results: {
      channels: [
        {
          alternatives: [
            { transcript: WORDS.map((word) => word.punctuated_word).join(" "), confidence: 0.99, words: WORDS },
          ],
        },
      ],
    },
  }),
);

const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, (request, response) => {
  request.on("data", () => undefined);
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": REPLY.length });
    response.end(REPLY);
  });
});
serveParent(server);
