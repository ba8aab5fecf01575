// Creates traces for an OpenTelemetry collector, if one is configured: a span per request, routing decision and provider call [metrics.trace-spans].
// Attributes are ids and those of the metrics, and providers receive no trace headers.
import { createHash } from "node:crypto";
import type { ObservedCall } from "../gateway/calls/observer.ts";
import type { RequestRecord } from "../gateway/request-record.ts";
import type { ExchangeWatch } from "../http/server/edge.ts";

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  /** OTLP's span kind: 1 internal, 2 server, 3 client. */
  readonly kind: 1 | 2 | 3;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, string | number | null>>;
}

export interface Traces {
  /** Records the caller's trace context before any span of the request is created. */
  readonly arrived: ExchangeWatch["arrived"];
  /** The caller's trace id even if the caller does not sample, so that logs can be correlated. */
  readonly traceIdOf: (requestId: string) => string;
  readonly exchanged: ExchangeWatch["exchanged"];
  readonly recorded: (record: RequestRecord) => void;
  readonly called: (seen: ObservedCall) => void;
}

interface Context {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly isSampled: boolean;
}

/** W3C Trace Context, version 00 and what later versions share with it. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/u;
/** Jobs call long after their request. If its context has been evicted by then, their spans start a trace of their own. */
const MAX_CONTEXTS = 20_000;

export function createTraces(exportSpan: (span: Span) => void): Traces {
  const contexts = new Map<string, Context>();
  const traceIdOf = (requestId: string): string => contexts.get(requestId)?.traceId ?? deriveId("trace", requestId, 16);
  const emitSpan = (requestId: string, part: string, span: Omit<Span, "traceId" | "spanId" | "parentSpanId">): void => {
    const context = contexts.get(requestId);
    if (context?.isSampled === false) return;
    const isRoot = part === "server";
    exportSpan({
      ...span,
      traceId: traceIdOf(requestId),
      spanId: deriveId(part, requestId, 8),
      parentSpanId: isRoot ? (context?.parentSpanId ?? null) : deriveId("server", requestId, 8),
    });
  };
  return {
    traceIdOf,
    arrived: (requestId, traceparent) => {
      const [, traceId, parentSpanId, flags] = TRACEPARENT.exec(traceparent ?? "") ?? [];
      if (traceId === undefined || parentSpanId === undefined || flags === undefined) return;
      contexts.set(requestId, { traceId, parentSpanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 });
      const [oldest] = contexts.keys();
      if (contexts.size > MAX_CONTEXTS && oldest !== undefined) contexts.delete(oldest);
    },
    exchanged: ({ requestId, method, route, status, startedAtMs, endedAtMs }) =>
      emitSpan(requestId, "server", {
        name: `${method} ${route ?? "none"}`,
        kind: 2,
        startedAtMs,
        endedAtMs,
        isError: status >= 500,
        attributes: {
          "http.request.method": method,
          "http.route": route,
          "http.response.status_code": status,
          "svc.request_id": requestId,
        },
      }),
    recorded: (record) => {
      if (record.candidates === null) return;
      emitSpan(record.requestId, "route", {
        name: "svc.route",
        kind: 1,
        startedAtMs: record.receivedAtMs,
        endedAtMs: record.receivedAtMs,
        isError: record.refusal !== null,
        attributes: {
          "svc.route": record.route,
          "svc.purpose.requested": record.purpose?.requested ?? null,
          "svc.purpose.applied": record.purpose?.applied ?? null,
          "svc.purpose.source": record.purpose?.source ?? null,
          "svc.route.candidates": record.candidates.length,
          "svc.route.rejected": record.candidates.filter(({ missing }) => missing.length > 0).length,
          "svc.route.refusal": record.refusal,
          "svc.idempotency": record.keyUse,
        },
      });
    },
    called: (seen) => {
      const { operation, provider, model, outcome, spent } = seen;
      emitSpan(seen.requestId, `call ${seen.attemptId}`, {
        name: `${operation} ${model}`,
        kind: 3,
        startedAtMs: seen.startedAtMs,
        endedAtMs: seen.endedAtMs,
        isError: outcome !== "succeeded",
        attributes: {
          "gen_ai.operation.name": operation,
          "gen_ai.provider.name": provider,
          "gen_ai.request.model": model,
          "error.type": outcome === "succeeded" ? null : outcome,
          "svc.attempt_id": seen.attemptId,
          "svc.billing": spent?.billingClass ?? null,
          "gen_ai.output.type": "text",
          "svc.audio.seconds": operation === "transcription" && spent !== null ? spent.audioMs / 1000 : null,
          "svc.audio.billable_seconds":
            operation === "transcription" && spent !== null ? spent.billableMs / 1000 : null,
          "gen_ai.usage.input_tokens": operation === "chat" ? (spent?.inputTokens ?? null) : null,
          "gen_ai.usage.output_tokens": operation === "chat" ? (spent?.outputTokens ?? null) : null,
        },
      });
    },
  };
}

/** Derives ids from the request id, so that the parts of a request agree without shared state. */
function deriveId(part: string, requestId: string, sizeBytes: number): string {
  return createHash("sha256")
    .update(`${part} ${requestId}`)
    .digest("hex")
    .slice(0, 2 * sizeBytes);
}
