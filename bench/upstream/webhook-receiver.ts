// A process that receives webhooks and answers at once. `GET /` returns the delays of the events received since the last such request, from each event's time to
// its arrival.
import { createServer } from "node:http";
import { serveParent } from "../measure/child.ts";

let delaysMs: number[] = [];

const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, (request, response) => {
  const arrivedMs = Date.now();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (request.method === "GET") {
      response.end(JSON.stringify(delaysMs));
      delaysMs = [];
      return;
    }
    const { occurred_at: at } = JSON.parse(Buffer.concat(chunks).toString()) as { occurred_at: string };
    delaysMs.push(arrivedMs - Date.parse(at));
    response.writeHead(204).end();
  });
});
serveParent(server);
