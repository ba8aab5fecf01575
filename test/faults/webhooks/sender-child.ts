// A process that delivers events, as `patchbay worker` does, to the run's own receivers: killed and restarted by run-webhooks.ts.
import { connect } from "node:net";
import { once } from "node:events";
import { ConnectFailure, createOutbound } from "../../../src/outbound/dial.ts";
import { webhookPolicy } from "../../../src/outbound/url-policy.ts";
import { createQueue, type Queue, type SendOptions } from "../../../src/queue/queue.ts";
import { openDatabase } from "../../../src/storage/connection/open-database.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { startDeliveries } from "../../../src/webhooks/deliver.ts";
import { createDeliveryWrites } from "../../../src/webhooks/delivery-writes.ts";
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
/** A day's retry schedule in minutes: the schedule is not tested here. */
const sooner = ({ startAfter, ...rest }: SendOptions): SendOptions =>
  typeof startAfter === "number" ? { ...rest, startAfter: Math.ceil(Math.min(startAfter / 100, 3)) } : rest;
const hurried: Pick<Queue, "send" | "sendAll"> = {
  send: (name, data, options = {}, tx) => queue.send(name, data, sooner(options), tx),
  sendAll: (name, messages, tx) =>
    queue.sendAll(
      name,
      messages.map(({ data, ...options }) => ({ data, ...sooner(options) })),
      tx,
    ),
};
const { timeoutMs } = setup;
const seal = createSeal({ keys: [ENCRYPTION_KEY] });
const services: WebhookServices = {
  database,
  seal,
  queue: hurried,
  writes: createDeliveryWrites({ database, seal, queue: hurried, timeoutMs, maxAttempts: 8, random: Math.random }),
  receivers: createReceivers(outbound, webhookPolicy({ allowHttp: false, allowedPrivateCidrs: [] })),
  timeoutMs,
  nowMs: Date.now,
};
startDeliveries(services, queue);
setInterval(() => void sweepWebhooks(services).catch(onError), 10_000).unref();
// Exits with its parent.
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
