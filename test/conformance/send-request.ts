// Sends a request of the run as it is, with nothing put right, and reads the whole answer.
import { type Agent, request as httpRequest } from "node:http";
import type { Request } from "./requests.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

const SILENCE_MS = 120_000;

/** Of what is endless, a good answer is its head. */
export function send(
  origin: string,
  { method, target, headers, body }: Request,
  agent: Agent,
  isEndless: boolean,
): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const length: Record<string, string> = body === null ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, method, path: target, agent, headers: { ...headers, ...length } },
      (response) => {
        const chunks: Buffer[] = [];
        const done = () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          });
        if (isEndless && response.statusCode === 200) {
          done();
          response.destroy();
          return;
        }
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("end", done);
        response.once("error", reject);
      },
    );
    sent.once("error", (error) => reject(new Error(`${method} ${target}: ${error.message}`, { cause: error })));
    // Waiting jobs say so; nothing else may hang.
    sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error(`nothing came for ${SILENCE_MS} ms`)));
    sent.end(body ?? undefined);
  });
}
