// Sends an answer: at once, piece by piece with back-pressure, or as far as a fault allows.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { StreamFault, Trouble } from "../faults.ts";
import type { WireAnswer } from "./wire.ts";

/** `stalled`: the answer was begun and never continues, though its connection stays open. */
export async function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: WireAnswer,
  { isCut, stream }: Pick<Trouble, "isCut" | "stream">,
  signal: AbortSignal,
): Promise<"sent" | "stalled"> {
  const length: Record<string, string> =
    typeof body === "string" ? { "content-length": String(Buffer.byteLength(body)) } : {};
  response.writeHead(status, { ...headers, ...length });
  const { pieces, ending } = scriptOf(body, stream.fault);
  if (isCut) {
    const whole = Buffer.from(pieces.join(""));
    response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => response.destroy());
    return "sent";
  }
  response.flushHeaders();
  for (const piece of pieces) {
    if (signal.aborted) return "sent";
    if (stream.paceMs > 0) await wait(stream.paceMs, undefined, { signal }).catch(() => undefined);
    if (!response.write(piece)) await once(response, "drain", { signal }).catch(() => undefined);
  }
  if (ending === "hold") return "stalled";
  if (ending === "end") response.end();
  // Writes a comment, whose callback runs once all earlier writes were sent.
  else response.write(":\n", () => response.destroy());
  return "sent";
}

interface Script {
  readonly pieces: readonly string[];
  readonly ending: "end" | "hold" | "cut";
}

function scriptOf(body: WireAnswer["body"], fault: StreamFault | null): Script {
  if (typeof body === "string") return { pieces: [body], ending: "end" };
  if (!("head" in body)) return { pieces: body, ending: "end" };
  const { head, contents, end, failure } = body;
  if (fault === null) return { pieces: [...head, ...contents, ...end], ending: "end" };
  if (fault.kind === "no_finish") return { pieces: [...head, ...contents], ending: "end" };
  const beginning = [...head, ...contents.slice(0, fault.afterContent ?? 1)];
  if (fault.kind === "error_event") return { pieces: [...beginning, failure], ending: "end" };
  return { pieces: beginning, ending: fault.kind === "stall_stream" ? "hold" : "cut" };
}
