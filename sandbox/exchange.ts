// Handles one request to a simulated provider: reads and records it, applies faults, validates it by its protocol, answers.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { type CallLog, type CallRecord, describeFile, newCallRecord } from "./calls.ts";
import type { FaultBook, ReplacingFault, Trouble } from "./faults.ts";
import { RECORDING_HEADER } from "./sample-script.ts";
import type { AudioMeter } from "./wire/measure-audio.ts";
import { type ReadBody, readBody } from "./wire/read-body.ts";
import { sendAnswer } from "./wire/send-answer.ts";
import type { Wire, WireAnswer, WireInput } from "./wire/wire.ts";

interface ExchangeParts {
  readonly log: CallLog;
  readonly faults: FaultBook;
  readonly meter: AudioMeter;
  /** Delays in progress. Aborting one ends it. */
  readonly delays: Set<AbortController>;
  readonly nowMs: () => number;
}
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly wire: Wire;
  readonly signal: AbortSignal;
}

const GARBAGE = "<html><head><title>502</title></head><body><h1>It works!</h1></body></html>\n";

export function createExchange(parts: ExchangeParts): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    const { request, response, url, wire } = exchange;
    const { log, faults } = parts;
    const call = newCallRecord(request, url, {
      wire: wire.name,
      modelParameter: wire.body === "raw" ? "model" : null,
    });
    const disconnect = new AbortController();
    log.begin(call);
    const ending = { isOurs: false };
    response.once("close", () => {
      disconnect.abort();
      call.aborted = !(response.writableFinished || ending.isOurs || exchange.signal.aborted);
      log.changed();
    });
    const reset = (): void => {
      ending.isOurs = true;
      call.outcome = "reset";
      request.socket.resetAndDestroy();
      log.changed();
    };
    // A fault rule for one model waits for its name, which a multipart body contains after the head.
    if (faults.takeEarlyReset(wire, wire.body === "raw" ? call.model : null)) return reset();
    const read = await readBody(request, wire, (name, value) => {
      if (name !== (wire.modelField ?? "model")) return;
      call.model = value;
      if (faults.takeEarlyReset(wire, value)) reset();
    }).catch(() => null);
    // The connection broke during the upload. The close handler above has recorded it.
    if (read === null) return void response.destroy();
    try {
      call.fields = read.fields;
      if (wire.modelOf !== undefined) call.model = wire.modelOf({ json: read.json, path: call.path });
      call.file = read.file === null ? null : describeFile(read.file);
      log.changed();
      const signal = AbortSignal.any([exchange.signal, disconnect.signal]);
      if (call.outcome === "pending") await respond(exchange, { ...parts, call, read, reset, ending, signal });
    } finally {
      await read.file?.spooled.remove();
    }
  };
}

interface Reading extends ExchangeParts {
  readonly call: CallRecord;
  readonly read: ReadBody;
  readonly reset: () => void;
  /** Whether the sandbox itself ends the connection. */
  readonly ending: { isOurs: boolean };
  readonly signal: AbortSignal;
}

async function respond(
  exchange: Exchange,
  { log, faults, meter, delays, nowMs, call, read, reset, ending, signal }: Reading,
): Promise<void> {
  const { wire, response } = exchange;
  const trouble = faults.take(wire, call.model);
  const { replacement } = trouble;
  if (trouble.delayMs > 0) await delay(trouble.delayMs, signal, delays);
  if (signal.aborted) return;
  if (replacement?.kind === "reset_before_body" || replacement?.kind === "reset_after_body") return reset();
  if (replacement?.kind === "stall") {
    call.outcome = "stalled";
    return log.changed();
  }
  const answer =
    replacement === null ? await judge(exchange, read, trouble, { meter, nowMs }) : replace(wire, replacement);
  if (signal.aborted) return;
  call.outcome = answer.status;
  ending.isOurs = trouble.isCut || trouble.stream.fault?.kind === "cut_stream";
  log.changed();
  const end = await sendAnswer(response, answer, trouble, signal);
  if (end === "stalled") call.outcome = "stalled";
  log.changed();
}

async function delay(ms: number, signal: AbortSignal, delays: Set<AbortController>): Promise<void> {
  const end = new AbortController();
  delays.add(end);
  await wait(ms, undefined, { signal: AbortSignal.any([signal, end.signal]) }).catch(() => undefined);
  delays.delete(end);
}

function judge(
  { request, url, wire }: Exchange,
  read: ReadBody,
  trouble: Trouble,
  { meter, nowMs }: Pick<ExchangeParts, "meter" | "nowMs">,
): Promise<WireAnswer> {
  const input: WireInput = {
    requestId: randomUUID(),
    nowMs: nowMs(),
    method: request.method ?? "",
    path: url.pathname,
    headers: request.headers,
    query: [...url.searchParams],
    ...read,
    measure: async () =>
      read.file === null
        ? { ok: false, isTooShort: false }
        : meter.measure(read.file.spooled, request.headers[RECORDING_HEADER]?.toString()),
  };
  return wire.answer(input, trouble.alteration);
}

type AnsweringFault = Exclude<ReplacingFault, { kind: "reset_before_body" | "reset_after_body" | "stall" }>;

function replace(wire: Wire, fault: AnsweringFault): WireAnswer {
  const requestId = randomUUID();
  switch (fault.kind) {
    case "status": {
      const answer = wire.errorFor(fault.status, requestId);
      const headers =
        fault.retryAfterSeconds === undefined
          ? answer.headers
          : { ...answer.headers, "retry-after": String(fault.retryAfterSeconds) };
      return { status: fault.status, headers, body: fault.body ?? answer.body };
    }
    case "garbage":
      return { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: GARBAGE };
    case "error_body":
      return { ...wire.errorFor(500, requestId), status: 200 };
  }
}
