// A process that delivers events, as `patchbay worker` does, to the run's own receivers: killed and restarted by run-webhooks.ts.
import { connect } from "node:net";
import { once } from "node:events";
import { ConnectFailure, createOutbound } from "../../../src/outbound/dial.ts";
import { webhookPolicy } from "../../../src/outbound/url-policy.ts";
import { createQueue } from "../../../src/queue/queue.ts";
import { openDatabase } from "../../../src/storage/connection/open-database.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { startDeliveries } from "../../../src/webhooks/deliver.ts";
import { webhookQueues } from "../../../src/webhooks/queues.ts";
import { createReceivers } from "../../../src/webhooks/receivers.ts";
import { sweepWebhooks } from "../../../src/webhooks/sweep.ts";
import type { WebhookServices } from "../../../src/webhooks/services.ts";
import { ENCRYPTION_KEY } from "../../harness/gateway.ts";
import { ADDRESS, type SenderSetup } from "./sender-setup.ts";

const setup = JSON.parse(process.argv[2] ?? "null") as SenderSetup;
const database = await openDatabase({ databaseUrl: setup.databaseUrl, poolSize: 6 });
const onError = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
const queue = createQueue({ database, queues: webhookQueues(setup.timeoutMs), onError });
await queue.start();
const outbound = createOutbound({
  guard: {
    resolve: async () => [ADDRESS],
    connect: async (target, signal) => {
      const socket = connect({ host: "127.0.0.1", port: setup.receiverPort, signal });
      socket.on("error", () => undefined);
      await once(socket, "connect").catch(() => {
        throw new ConnectFailure("connect");
      });
      return { socket, remoteAddress: target.address };
    },
  },
});
const services: WebhookServices = {
  database,
  seal: createSeal({ keys: [ENCRYPTION_KEY] }),
  queue: {
    ...queue,
    // A day's retry schedule in minutes: the schedule is not tested here.
    send: (name, data, options = {}, tx) => {
      const { startAfter, ...rest } = options;
      const seconds = typeof startAfter === "number" ? Math.ceil(Math.min(startAfter / 100, 3)) : undefined;
      return queue.send(name, data, seconds === undefined ? rest : { ...rest, startAfter: seconds }, tx);
    },
  },
  receivers: createReceivers(outbound, webhookPolicy({ allowHttp: false, allowedPrivateCidrs: [] })),
  maxAttempts: 8,
  timeoutMs: setup.timeoutMs,
  nowMs: Date.now,
  random: Math.random,
};
startDeliveries(services, queue);
setInterval(() => void sweepWebhooks(services).catch(onError), 10_000).unref();
// Exits with its parent.
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
