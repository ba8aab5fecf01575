// The sandbox's control API over HTTP, for demonstrations and tests in another process: faults, calls, health.
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { CallLog } from "./calls.ts";
import { type FaultBook, faultRuleSchema } from "./faults.ts";
import { parseJson } from "./wire/wire.ts";

export const CONTROL_PATH = "/_sandbox/";
const MAX_BODY_BYTES = 1_048_576;

interface ControlOptions {
  readonly log: CallLog;
  readonly faults: FaultBook;
  readonly path: string;
}

export async function answerControl(
  request: IncomingMessage,
  response: ServerResponse,
  { log, faults, path }: ControlOptions,
): Promise<void> {
  const body = await readText(request);
  const reply = (status: number, value: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(value, null, 2)}\n`);
  };
  switch (`${request.method} ${path.slice(CONTROL_PATH.length)}`) {
    case "GET health":
      return reply(200, { status: "ok" });
    case "GET calls":
      return reply(200, { call_count: log.count(), calls: log.calls });
    case "DELETE calls":
      log.clear();
      return reply(200, { call_count: 0, calls: [] });
    case "GET faults":
      return reply(200, faults.list());
    case "DELETE faults":
      faults.replaceAll([]);
      return reply(200, []);
    case "PUT faults": {
      const rules = z.array(faultRuleSchema).safeParse(parseJson(body));
      if (!rules.success) return reply(400, { error: z.prettifyError(rules.error) });
      faults.replaceAll(rules.data);
      return reply(200, faults.list());
    }
    default:
      return reply(404, { error: "GET, PUT, DELETE faults · GET, DELETE calls · GET health" });
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of request) {
    total += Buffer.byteLength(chunk);
    if (total <= MAX_BODY_BYTES) chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString("utf8");
}
