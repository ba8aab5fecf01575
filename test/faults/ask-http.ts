// An HTTP client with keep-alive connections, like applications have, but without retries: a broken connection is reported as an answer of its own kind.
import { type Agent, request } from "node:http";

export interface HttpAnswer {
  /** Null: no complete answer, and `text` contains the reason. */
  readonly status: number | null;
  readonly text: string;
  /** By lower-case name; of a complete answer. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface HttpQuestion {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly timeoutMs?: number;
}

export function askHttp(origin: string, agent: Agent | false, question: HttpQuestion): Promise<HttpAnswer> {
  const { method, path, headers, body, timeoutMs = 60_000 } = question;
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": String(body.byteLength) };
    const outgoing = request(`${origin}${path}`, { agent, method, headers: { ...headers, ...length } });
    const late = setTimeout(() => outgoing.destroy(new Error("no whole answer in time")), timeoutMs);
    const broke = (error: Error): void => {
      clearTimeout(late);
      const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
      const connectionNote = outgoing.reusedSocket ? " on a kept connection" : "";
      resolve({ status: null, text: `${error.message}${code}${connectionNote}`, headers: {} });
    };
    outgoing.once("error", broke);
    outgoing.once("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", broke);
      response.once("end", () => {
        clearTimeout(late);
        const { statusCode = null, headersDistinct } = response;
        const headers = Object.entries(headersDistinct).map(([name, values]) => [name, values?.join(", ")]);
        resolve({ status: statusCode, text: Buffer.concat(chunks).toString(), headers: Object.fromEntries(headers) });
      });
    });
    outgoing.end(body);
  });
}
