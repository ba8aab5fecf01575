// What all routed answers share on a terminal: reads their event streams, and prints warnings, the simulation notice and other notes for people.
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import { asRecord, asString } from "../../lib/json/json-guards.ts";
import { readEvents } from "./read-events.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../terminal.ts";

export interface StreamedAnswer {
  readonly delta: string;
  /** Field of the delta that contains its text. */
  readonly text: string;
  readonly completed: string;
}

export const TRANSCRIPT_STREAM: StreamedAnswer = {
  delta: "transcript.delta",
  text: "text",
  completed: "transcript.completed",
};
export const CHAT_STREAM: StreamedAnswer = { delta: "chat.delta", text: "content", completed: "chat.completed" };

export function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") === true;
}

/** Prints text as it arrives if text is the result; the last event contains the whole answer. */
export async function readAnswerStream(
  response: Response,
  kind: StreamedAnswer,
  terminal: Terminal,
  printsText: boolean,
): Promise<{ document: unknown; printed: boolean }> {
  let printed = false;
  if (response.body !== null) {
    for await (const event of readEvents(response.body)) {
      if (event.name === kind.completed) {
        if (printed) await write(terminal.stdout, "\n");
        return { document: event.data, printed };
      }
      if (event.name === "error") throw streamError(event.data);
      const text = asString(asRecord(event.data)[kind.text]);
      if (event.name !== kind.delta || text === null || !printsText) continue;
      printed = true;
      await write(terminal.stdout, terminal.stdout.isTTY === true ? stripControlCharacters(text) : text);
    }
  }
  throw new CliError(EXIT.upstream, "The stream ended before the response was complete.");
}

export function streamError(document: unknown): CliError {
  const outer = asRecord(document);
  const error = asRecord(outer["error"] ?? outer);
  const code = asString(error["code"]);
  const hints = [asString(error["doc_url"]), asString(error["request_id"])].flatMap((text, index) =>
    text === null ? [] : [`${index === 0 ? "what to do:" : "request"} ${text}`],
  );
  return new CliError(exitCodeOf(code, 502), `${code ?? "error"}: ${asString(error["message"]) ?? "no message"}`, {
    hints,
    document: { error },
  });
}

/** Warnings of an answer, or of a job's stored result. */
export async function reportWarnings(document: unknown, terminal: Terminal): Promise<void> {
  const warnings = asRecord(document)["warnings"];
  for (const warning of Array.isArray(warnings) ? warnings.map(asRecord) : [])
    await printLine(terminal, `warning ${asString(warning["code"]) ?? ""}: ${asString(warning["message"]) ?? ""}`);
}

function hasWarning(document: unknown, code: string): boolean {
  const warnings = asRecord(document)["warnings"];
  return Array.isArray(warnings) && warnings.some((warning) => asRecord(warning)["code"] === code);
}

export function saySimulated(terminal: Terminal): Promise<void> {
  return printLine(terminal, "Simulated response. No provider was called.");
}

/** Prints notes for people in addition to the result. */
export async function reportAnswer(response: Response, document: unknown, terminal: Terminal): Promise<void> {
  await reportWarnings(document, terminal);
  if (response.headers.get("x-svc-simulated") === "true" && !hasWarning(document, "SIMULATED_PROVIDER"))
    await saySimulated(terminal);
  if (response.headers.get("x-svc-idempotent-replay") === "true")
    await printLine(terminal, "replayed: the stored answer of an earlier request with this Idempotency-Key");
  const requestId = response.headers.get("x-request-id");
  if (requestId !== null) await printLine(terminal, `request ${requestId}`);
}
