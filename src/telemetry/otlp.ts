// Exports spans to a collector over OTLP/HTTP as JSON, in batches and without delaying requests. If the collector is unavailable or the queue is full, spans
// are dropped, and the log reports how many.
import type { Logger } from "pino";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import { bufferedBody } from "../lib/buffered-body.ts";
import type { Outbound } from "../outbound/dial.ts";
import type { Span } from "./traces.ts";

export interface OtlpSettings {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: the URL before `/v1/traces`. */
  readonly endpoint: string;
  /** `OTEL_EXPORTER_OTLP_HEADERS`, which may contain a credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
}

export interface OtlpExporter {
  readonly give: (span: Span) => void;
  /** Sends the remaining spans once. Those that fail are lost. */
  readonly close: () => Promise<void>;
}

const MAX_WAITING = 4_096;
const BATCH = 512;
const EXPORT_EVERY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const NANOSECONDS_PER_MS = 1_000_000n;

/** Null: the operator configured no collector. The variables are OpenTelemetry's own. */
export function otlpSettings(env: Readonly<Record<string, string | undefined>>): OtlpSettings | null {
  const endpoint = env["OTEL_EXPORTER_OTLP_ENDPOINT"]?.trim() ?? "";
  if (!/^https?:\/\/\S+$/u.test(endpoint) || !URL.canParse(endpoint) || env["OTEL_SDK_DISABLED"] === "true")
    return null;
  const pairs = (env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "").split(",").map((pair) => pair.split("="));
  const headers = pairs.flatMap(([name = "", ...value]) =>
    /^[\w-]+$/u.test(name.trim()) ? [[name.trim().toLowerCase(), decodeOrKeep(value.join("=").trim())] as const] : [],
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
  let lostCount = 0;

  const send = async (spans: readonly Span[]): Promise<void> => {
    const body = Buffer.from(JSON.stringify(exportRequestOf(spans, settings.serviceName, version)));
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
    // Stops at the first failure, so that a shutdown does not wait for a silent collector eight times.
    while (waiting.length > 0 && !("err" in failure)) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      try {
        await send(batch);
      } catch (err) {
        failure = { err };
        lostCount += batch.length;
      }
    }
    reportLost(failure);
  };
  const reportLost = (failure: { readonly err?: unknown }): void => {
    if (lostCount === 0) return;
    logger.warn(
      { task: "export traces", lost: lostCount, ...failure },
      "spans did not reach the collector and are lost",
    );
    lostCount = 0;
  };
  const writer = createPeriodicTask(EXPORT_EVERY_MS, logger, "export traces", flush);
  return {
    give: (span) => {
      if (waiting.length < MAX_WAITING) waiting.push(span);
      else lostCount += 1;
    },
    close: async () => {
      await writer.stop();
      await flush();
      lostCount += waiting.length;
      waiting = [];
      reportLost({});
    },
  };
}

function exportRequestOf(spans: readonly Span[], serviceName: string, version: string): unknown {
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

function decodeOrKeep(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
