// Spans to a collector over OTLP/HTTP in JSON: in batches, off every request's path. A collector that is away costs spans, never a
// request: what does not fit or does not get there is dropped, and the log says how many.
import type { Logger } from "pino";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import { bufferedBody } from "../lib/buffered-body.ts";
import type { Outbound } from "../outbound/dial.ts";
import type { Span } from "./traces.ts";

export interface OtlpSettings {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: what precedes `/v1/traces`. */
  readonly endpoint: string;
  /** `OTEL_EXPORTER_OTLP_HEADERS`, which may hold a credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
}

export interface OtlpExporter {
  readonly give: (span: Span) => void;
  /** Sends what there is; what does not get there at once is lost. */
  readonly close: () => Promise<void>;
}

const MAX_WAITING = 4_096;
const BATCH = 512;
const EVERY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const NANOSECONDS_PER_MS = 1_000_000n;

/** Null: the operator names no collector. The variables are OpenTelemetry's own. */
export function otlpSettings(env: Readonly<Record<string, string | undefined>>): OtlpSettings | null {
  const endpoint = env["OTEL_EXPORTER_OTLP_ENDPOINT"]?.trim() ?? "";
  if (!/^https?:\/\/\S+$/u.test(endpoint) || !URL.canParse(endpoint) || env["OTEL_SDK_DISABLED"] === "true")
    return null;
  const pairs = (env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "").split(",").map((pair) => pair.split("="));
  const headers = pairs.flatMap(([name = "", ...value]) =>
    /^[\w-]+$/u.test(name.trim()) ? [[name.trim().toLowerCase(), decoded(value.join("=").trim())] as const] : [],
  );
  return {
    endpoint: endpoint.replace(/\/+$/u, ""),
    headers: Object.fromEntries(headers),
    serviceName: env["OTEL_SERVICE_NAME"]?.trim() || "patchbay",
  };
}

export function createOtlpExporter(
  settings: OtlpSettings,
  {
    outbound,
    logger,
    version,
  }: { readonly outbound: Pick<Outbound, "exchange">; readonly logger: Logger; readonly version: string },
): OtlpExporter {
  const url = new URL(`${settings.endpoint}/v1/traces`);
  let waiting: Span[] = [];
  let lost = 0;

  const send = async (spans: readonly Span[]): Promise<void> => {
    const body = Buffer.from(JSON.stringify(documentOf(spans, settings.serviceName, version)));
    const reply = await outbound.exchange({
      trust: "operator",
      method: "POST",
      url,
      headers: { ...settings.headers, "content-type": "application/json", "content-length": String(body.length) },
      body: bufferedBody(body),
      timeoutMs: TIMEOUT_MS,
      maxReplyBytes: 65_536,
    });
    if (reply.status >= 300) throw new Error(`the collector answered ${reply.status}`);
  };
  const flush = async (): Promise<void> => {
    let failure: { readonly err?: unknown } = {};
    // One that fails ends the turn: a process that stops does not wait for a silent collector eight times.
    while (waiting.length > 0 && !("err" in failure)) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      try {
        await send(batch);
      } catch (err) {
        failure = { err };
        lost += batch.length;
      }
    }
    tellLost(failure);
  };
  const tellLost = (failure: { readonly err?: unknown }): void => {
    if (lost === 0) return;
    logger.warn({ task: "export traces", lost, ...failure }, "spans did not reach the collector and are lost");
    lost = 0;
  };
  const writer = createPeriodicTask(EVERY_MS, logger, "export traces", flush);
  return {
    give: (span) => {
      if (waiting.length < MAX_WAITING) waiting.push(span);
      else lost += 1;
    },
    close: async () => {
      await writer.stop();
      await flush();
      lost += waiting.length;
      waiting = [];
      tellLost({});
    },
  };
}

function documentOf(spans: readonly Span[], serviceName: string, version: string): unknown {
  const resource = attributesOf({ "service.name": serviceName, "service.version": version });
  return {
    resourceSpans: [
      {
        resource: { attributes: resource },
        scopeSpans: [{ scope: { name: "patchbay", version }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

function spanOf(span: Span): unknown {
  const { traceId, spanId, parentSpanId, name, kind } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind,
    startTimeUnixNano: nanoseconds(span.startedAtMs),
    endTimeUnixNano: nanoseconds(span.endedAtMs),
    attributes: attributesOf(span.attributes),
    status: span.isError ? { code: 2 } : {},
  };
}

function attributesOf(attributes: Span["attributes"]): readonly unknown[] {
  return Object.entries(attributes).flatMap(([key, value]) => (value === null ? [] : [{ key, value: valueOf(value) }]));
}

function valueOf(value: string | number): unknown {
  if (typeof value === "string") return { stringValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * NANOSECONDS_PER_MS);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
