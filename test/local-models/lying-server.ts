// A server with TLS that has one file, and can lie about its length, its ranges and its place.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { createOutbound, type Outbound } from "../../src/outbound/dial.ts";
import { httpsServer, TLS } from "../outbound/loopback.ts";

export interface Download {
  readonly url: string;
  /** As `hosts` of a pull. */
  readonly host: string;
  /** Headers `Range` of the requests so far; null: without one. */
  readonly ranges: readonly (string | null)[];
}

type Answer = (request: IncomingMessage, response: ServerResponse, content: Buffer) => void;

export async function serve(
  t: TestContext,
  contentOf: Buffer | ((path: string) => Buffer),
  answer: Answer = honest,
): Promise<Download> {
  const ranges: (string | null)[] = [];
  const base = await httpsServer(t, (request, response) => {
    ranges.push(request.headers.range ?? null);
    answer(request, response, Buffer.isBuffer(contentOf) ? contentOf : contentOf(request.url ?? ""));
  });
  return { url: new URL("demo.tar.bz2", base).href, host: base.host, ranges };
}

/** The file, or the end of it that was asked for. */
export function honest(request: IncomingMessage, response: ServerResponse, content: Buffer): void {
  const start = /^bytes=(\d+)-$/u.exec(request.headers.range ?? "")?.[1];
  if (start === undefined) return void response.writeHead(200, { "content-length": content.length }).end(content);
  const rest = content.subarray(Number(start));
  const range = `bytes ${start}-${content.length - 1}/${content.length}`;
  response.writeHead(206, { "content-length": rest.length, "content-range": range }).end(rest);
}

/** Sends the first bytes, then breaks the connection. */
export function breakAfter(bytes: number): Answer {
  return (_request, response, content) => {
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, bytes), () => response.destroy());
  };
}

/** Trusts the tests' certificate, which has another name than the address. */
export function testOutbound(t: TestContext): Outbound {
  const outbound = createOutbound({ connect: { ca: TLS.ca, servername: TLS.host } });
  t.after(() => outbound.destroy());
  return outbound;
}
