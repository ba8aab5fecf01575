// Sends a request to an app over a socket of its own, and gives the whole answer.
import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { listen } from "../../../src/http/server/listen.ts";
import type { HttpServer } from "../../../src/http/server/server.ts";

interface Asked {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
}

interface Answer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  json(): unknown;
}

/** The app listens from the first request on, until it is closed. */
export async function askApp(app: HttpServer, asked: Asked): Promise<Answer> {
  if (!app.server.listening) await listen(app, { host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const { method = "GET", url: path, headers = {}, payload } = asked;
  const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false });
  sent.end(payload);
  const [response] = await once(sent, "response");
  const body = await text(response);
  return { statusCode: response.statusCode, headers: response.headers, body, json: () => JSON.parse(body) };
}
