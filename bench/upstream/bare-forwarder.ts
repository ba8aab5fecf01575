// The baseline: a minimal Node.js proxy between a caller and a provider, without checks, metering or storage.
import { createServer } from "node:http";
import { Agent, request } from "undici";
import { childArgument, serveParent } from "../measure/child.ts";

const { target } = childArgument() as { readonly target: string };
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, pipelining: 1 });

const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
  forward().catch(() => outgoing.destroy());
  async function forward(): Promise<void> {
    const reply = await request(target, {
      dispatcher: agent,
      method: "POST",
      headers: {
        "content-type": incoming.headers["content-type"] ?? "application/octet-stream",
        "content-length": incoming.headers["content-length"] ?? "0",
      },
      body: incoming,
    });
    const length = reply.headers["content-length"];
    outgoing.writeHead(reply.statusCode, {
      "content-type": String(reply.headers["content-type"]),
      ...(length === undefined ? {} : { "content-length": String(length) }),
    });
    reply.body.pipe(outgoing);
  }
});
serveParent(server);
