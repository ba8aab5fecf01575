// Receivers that fail at random and record everything: one for each path.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { verifyWebhook } from "../../../src/webhooks/verify.ts";

export interface Seen {
  /** 2xx answers written. */
  accepted: number;
  requests: number;
  body: string;
}

export interface FlakyReceiver {
  readonly port: number;
  /** By event id. */
  readonly events: ReadonlyMap<string, Seen>;
  readonly faults: readonly string[];
  readonly mostAtOnce: () => number;
  /** From now on every delivery is accepted. */
  recover(): void;
  close(): void;
}

const FAILING_SHARE = 0.3;

export async function startFlakyReceiver(random: () => number, secret: string): Promise<FlakyReceiver> {
  const events = new Map<string, Seen>();
  const faults: string[] = [];
  const running = new Map<string, number>();
  let most = 0;
  let isWell = false;

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "";
    const now = (running.get(path) ?? 0) + 1;
    running.set(path, now);
    most = Math.max(most, now);
    response.on("close", () => running.set(path, (running.get(path) ?? 0) - 1));
    const body = await bodyOf(request);
    if (body === null) return;
    const verdict = verifyWebhook({ headers: request.headers, body, secret });
    if (!verdict.ok || verdict.id === null) {
      faults.push(`a delivery that is not genuine: ${verdict.ok ? "no id" : verdict.reason}`);
      response.writeHead(400).end();
      return;
    }
    const record = events.get(verdict.id) ?? { accepted: 0, requests: 0, body };
    if (record.body !== body) faults.push(`${verdict.id} came with another body`);
    record.requests += 1;
    events.set(verdict.id, record);
    misbehave(request, response, record);
  };

  const misbehave = (request: IncomingMessage, response: ServerResponse, record: Seen): void => {
    const dice = isWell ? 1 : random();
    // No answer: the sender's own timeout ends it.
    if (dice < FAILING_SHARE / 10) return;
    if (dice < FAILING_SHARE / 2) request.socket.resetAndDestroy();
    else if (dice < FAILING_SHARE) response.writeHead(random() < 0.5 ? 500 : 429).end();
    else {
      // Occasionally late, so that a kill falls between its answer and the sender's record.
      record.accepted += 1;
      setTimeout(() => response.writeHead(204).end(), random() * 60);
    }
  };

  const server = createServer((request, response) => void take(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    events,
    faults,
    mostAtOnce: () => most,
    recover: () => {
      isWell = true;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Null if its sender died meanwhile. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString();
}
