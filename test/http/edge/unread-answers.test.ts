// Callers that do not read large answers are disconnected when their answers fill the budget; one that reads is not.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test } from "node:test";
import { createLogger } from "../../../src/lib/logger.ts";
import { getMeContract } from "../../../src/contract/endpoints/endpoint-account.ts";
import type { Endpoint } from "../../../src/http/server/endpoint.ts";
import { createServer } from "../../../src/http/server/server.ts";
import { createUnreadBudget } from "../../../src/http/reply/unread-budget.ts";
import { until } from "../../harness/until.ts";

/** More than a kernel takes of a connection that is not read. */
const ANSWER = "a".repeat(24 * 1_048_576);

test("api.unread-budget: R17: of four callers that do not read, only as many are kept as the budget holds answers", async (t) => {
  const unread = createUnreadBudget({ totalBytes: 2.5 * ANSWER.length });
  const contract = { ...getMeContract, auth: "none" } as Endpoint["contract"];
  const app = createServer({
    endpoints: [{ contract, handle: async () => ({ status: 200, body: { json: ANSWER } }) }],
    authenticate: async () => ({ scopes: [] }),
    publicUrl: () => "https://gateway.example",
    logger: createLogger({ write: () => undefined }, { isStrict: true }),
    draining: () => false,
    unread,
  });
  const server: Server = app.server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    server.closeAllConnections();
    await app.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const ask = () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write("GET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n");
    t.after(() => socket.destroy());
    return socket;
  };
  for (let count = 1; count <= 4; count += 1) {
    ask();
    await until(() => unread.heldBytes > 0 && app.connections.size === Math.min(count, 2));
  }
  assert.ok(unread.heldBytes <= 2.5 * ANSWER.length);
  // Read to its end, the answer comes whole though the others hold the budget.
  const reader = ask();
  let received = 0;
  reader.on("data", (chunk: Buffer) => (received += chunk.length));
  reader.resume();
  await until(() => received > ANSWER.length);
});
