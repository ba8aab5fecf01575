// A collector on loopback: keeps what it is sent, as text and as spans.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";

const attribute = z.object({
  key: z.string(),
  value: z.strictObject({
    stringValue: z.string().optional(),
    intValue: z.string().optional(),
    doubleValue: z.number().optional(),
  }),
});
const span = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/u),
  spanId: z.string().regex(/^[0-9a-f]{16}$/u),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/u)
    .optional(),
  name: z.string(),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: z.string().regex(/^\d{19}$/u),
  endTimeUnixNano: z.string().regex(/^\d{19}$/u),
  attributes: z.array(attribute),
  status: z.strictObject({ code: z.literal(2).optional() }),
});
const document = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.strictObject({ scope: z.unknown(), spans: z.array(span) })),
    }),
  ),
});
export type ReceivedSpan = z.infer<typeof span>;

export interface Collector extends AsyncDisposable {
  readonly endpoint: string;
  readonly texts: readonly string[];
  readonly headers: readonly NodeJS.Dict<string | string[]>[];
  spans(): readonly ReceivedSpan[];
}

export async function startCollector(): Promise<Collector> {
  const texts: string[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    texts.push(await text(request));
    headers.push(request.headers);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  };
  const server = createServer((request, response) => void take(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    endpoint: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    texts,
    headers,
    spans: () =>
      texts.flatMap((body) =>
        document
          .parse(JSON.parse(body))
          .resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
