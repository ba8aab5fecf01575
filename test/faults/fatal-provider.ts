// A provider that sends Deepgram's reply and kills its caller at a chosen point of the exchange.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Points of the exchange with the provider. */
export const OUTER_POINTS = ["on-connect", "half-body-received", "reply-headers-sent", "reply-body-sent"] as const;
export type OuterPoint = (typeof OUTER_POINTS)[number];

export interface FatalProvider {
  readonly origin: string;
  /** Requests whose headers arrived since the last `expect`. */
  readonly callCount: () => number;
  /** From now on: kill once at `point`, or only answer. */
  expect(point: OuterPoint | null, kill: () => void): void;
  close(): Promise<void>;
}

export async function startFatalProvider(): Promise<FatalProvider> {
  let calls = 0;
  let armed: OuterPoint | null = null;
  let kill: () => void = () => undefined;
  const reach = (point: OuterPoint): boolean => {
    if (armed !== point) return false;
    armed = null;
    kill();
    return true;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    calls += 1;
    const halfLength = Number(request.headers["content-length"] ?? 0) / 2;
    let received = 0;
    for await (const chunk of request) {
      received += (chunk as Buffer).length;
      if (received >= halfLength && reach("half-body-received")) return;
    }
    const body = JSON.stringify(reply());
    // A separate connection for each call, so that `on-connect` belongs to the call that it kills.
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "dg-request-id": "dg-1",
      connection: "close",
    });
    response.flushHeaders();
    if (reach("reply-headers-sent")) return;
    response.end(body, () => reach("reply-body-sent"));
  };
  const server = createServer((request, response) => {
    // The caller dies during the exchange, as intended.
    handle(request, response).catch(() => response.destroy());
  });
  server.on("connection", () => reach("on-connect"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    callCount: () => calls,
    expect: (point, how) => {
      calls = 0;
      armed = point;
      kill = how;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function reply() {
  const model = "1ed36bac-f71c-4f3f-a31f-02fd6525c489";
  return {
    metadata: {
      request_id: "dg-1",
      duration: 7,
      channels: 1,
      models: [model],
      model_info: { [model]: { name: "general-nova-3", version: "2026-01-01.0", arch: "nova-3" } },
    },
    results: {
      channels: [
        {
          alternatives: [
            {
              transcript: "Held by the ledger.",
              confidence: 0.99,
              words: [
                { word: "held", start: 0.1, end: 0.4, confidence: 0.99, punctuated_word: "Held" },
                { word: "by", start: 0.4, end: 0.6, confidence: 0.99, punctuated_word: "by" },
                { word: "the", start: 0.6, end: 0.8, confidence: 0.99, punctuated_word: "the" },
                { word: "ledger", start: 0.8, end: 1.2, confidence: 0.99, punctuated_word: "ledger." },
              ],
            },
          ],
        },
      ],
    },
  };
}
