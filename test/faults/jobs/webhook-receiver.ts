// A webhook receiver that accepts everything and records it by the event id, which stays the same over retries.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface WebhookReceiver {
  readonly url: string;
  /** Event ids by job, with their status; more than one of either is a failure. */
  readonly deliveries: ReadonlyMap<
    string,
    { readonly ids: ReadonlySet<string>; readonly statuses: ReadonlySet<string> }
  >;
  readonly received: () => number;
  close(): Promise<void>;
}

interface Event {
  readonly job_id: string;
  readonly status: string;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const deliveries = new Map<string, { ids: Set<string>; statuses: Set<string> }>();
  let received = 0;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const event = JSON.parse((await buffer(request)).toString()) as Event;
    const known = deliveries.get(event.job_id) ?? { ids: new Set(), statuses: new Set() };
    known.ids.add(String(request.headers["x-svc-webhook-id"]));
    known.statuses.add(event.status);
    deliveries.set(event.job_id, known);
    received += 1;
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    // Its sender was killed, so it will be redelivered.
    take(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // By name: deliveries to the literal address 127.0.0.1 are refused whatever ranges are allowed.
    url: `http://localhost:${(server.address() as AddressInfo).port}/events`,
    deliveries,
    received: () => received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
