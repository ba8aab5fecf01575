// Traces: what a collector receives, whose trace it joins, and that no request waits for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "../../src/lib/logger.ts";
import { createOtlpExporter, otlpSettings } from "../../src/telemetry/otlp.ts";
import { createTraces, type Span } from "../../src/telemetry/traces.ts";
import { postForm } from "../harness/client.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { startCollector } from "./collector.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

test("metrics.trace-spans, metrics.trace-parent: a request joins its caller's trace, its route and each call are its children, and providers receive no traceparent", async () => {
  await using collector = await startCollector();
  const otlp = { endpoint: collector.endpoint, headers: { "x-token": "of-the-collector" }, serviceName: "gateway-1" };
  const gateway = await startGateway({ otlp });
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 503 }, times: 1 });
  const answer = await postForm(gateway.origin, { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
  await postForm(gateway.origin, { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
  const { calls } = gateway.sandbox;
  await gateway.close();
  assert.doesNotMatch(JSON.stringify(calls), /traceparent|4bf92f35/u);
  assert.equal(collector.headers[0]?.["x-token"], "of-the-collector");
  const spans = collector.spans().filter(({ traceId }) => traceId === TRACE);
  const [server, ...none] = spans.filter(({ kind }) => kind === 2);
  assert.equal(none.length, 0, "what its caller does not sample is not traced");
  assert.ok(server !== undefined);
  assert.deepEqual([server.name, server.parentSpanId], ["POST /v1/transcription", PARENT]);
  const value = (key: string) => server.attributes.find((each) => each.key === key)?.value;
  assert.deepEqual(value("http.response.status_code"), { intValue: "200" });
  assert.deepEqual(value("svc.request_id"), { stringValue: answer.headers.get("x-request-id") });
  const children = spans.filter(({ parentSpanId }) => parentSpanId === server.spanId);
  assert.deepEqual(children.map(({ name, kind, status }) => `${name} ${kind} ${status.code ?? 0}`).toSorted(), [
    "svc.route 1 0",
    "transcription nova-3 3 2",
    "transcription whisper-1 3 0",
  ]);
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, 4);
  const served = children.find(({ name }) => name === "transcription whisper-1");
  const figures = ["gen_ai.output.type", "svc.audio.seconds", "svc.audio.billable_seconds", "error.type"];
  assert.deepEqual(
    figures.map((key) => served?.attributes.find((each) => each.key === key)?.value),
    [{ stringValue: "text" }, { doubleValue: 7.378 }, { intValue: "0" }, undefined],
  );
});

test("logs.trace-id: a request's line has the id of its trace, its caller's or its own; without traces there is none", async () => {
  await using collector = await startCollector();
  const otlp = { endpoint: collector.endpoint, headers: {}, serviceName: "x" };
  const traced = await startGateway({ otlp });
  const lineOf = async (gateway: TestGateway, headers: Record<string, string> = {}) => {
    const id = (await postForm(gateway.origin, { headers })).headers.get("x-request-id") ?? "";
    const isThere = (line: string) => line.includes(id) && line.includes(`"ms":`);
    await until(async () => gateway.logs.some(isThere));
    const line = JSON.parse(gateway.logs.find(isThere) ?? "{}") as Record<string, unknown>;
    return { id, traceId: line["trace_id"], fields: Object.keys(line) };
  };
  const own = await lineOf(traced);
  const sampled = await lineOf(traced, { traceparent: `00-${TRACE}-${PARENT}-01` });
  const unsampled = await lineOf(traced, { traceparent: `00-${TRACE}-${PARENT}-00` });
  await traced.close();
  const spanOf = (id: string) =>
    collector.spans().find(({ kind, attributes }) => kind === 2 && JSON.stringify(attributes).includes(id))?.traceId;
  assert.match(String(own.traceId), /^[0-9a-f]{32}$/u);
  assert.equal(own.traceId, spanOf(own.id));
  assert.deepEqual([sampled.traceId, spanOf(sampled.id)], [TRACE, TRACE]);
  assert.deepEqual([unsampled.traceId, spanOf(unsampled.id)], [TRACE, undefined]);

  const plain = await startGateway();
  const { fields } = await lineOf(plain, { traceparent: `00-${TRACE}-${PARENT}-01` });
  await plain.close();
  assert.deepEqual(fields, ["level", "time", "request_id", "method", "route", "status", "code", "ms"]);
});

test("metrics.trace-collector: an unavailable collector costs spans, whose number is logged, never a request", async () => {
  const otlp = { endpoint: "http://127.0.0.1:1", headers: {}, serviceName: "x" };
  const gateway = await startGateway({ otlp });
  assert.equal((await postForm(gateway.origin)).status, 200);
  await gateway.close();
  const lost = gateway.logs.flatMap((line) =>
    line.includes("export traces") ? [Number(/"lost":(\d+)/u.exec(line)?.[1])] : [],
  );
  assert.equal(
    lost.reduce((total, count) => total + count, 0),
    3,
  );
});

test("metrics.trace-shutdown: a process that stops asks a silent collector once, and reports how many spans are lost", async () => {
  const lines: string[] = [];
  let asked = 0;
  const exporter = createOtlpExporter(
    { endpoint: "http://127.0.0.1:1", headers: {}, serviceName: "x" },
    {
      outbound: {
        exchange: () => {
          asked += 1;
          return Promise.reject(new Error("no answer"));
        },
      },
      logger: createLogger({ write: (line) => void lines.push(line) }),
      version: "0",
    },
  );
  const traces = createTraces(exporter.give);
  const seen = { requestId: "req_1", method: "GET", route: null, status: 200, startedAtMs: 1, endedAtMs: 2 };
  for (let count = 0; count < 5_000; count += 1) traces.exchanged(seen);
  await exporter.close();
  assert.equal(asked, 1);
  const lost = lines.map((line) => Number(/"lost":(\d+)/u.exec(line)?.[1]));
  assert.equal(
    lost.reduce((total, count) => total + count, 0),
    5_000,
  );
});

test("metrics.trace-parent: an invalid traceparent starts a trace of the request's own, the same for all its parts", () => {
  for (const bad of [
    "",
    "x",
    `00-${"0".repeat(32)}-${PARENT}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01,00-x`,
  ]) {
    const spans: Span[] = [];
    const traces = createTraces((span) => spans.push(span));
    traces.arrived("req_1", bad);
    traces.exchanged({ requestId: "req_1", method: "GET", route: null, status: 404, startedAtMs: 1, endedAtMs: 2 });
    assert.notEqual(spans[0]?.traceId, TRACE, bad);
    assert.equal(spans[0]?.parentSpanId, null);
  }
});

test("metrics.trace-settings: the variables are OpenTelemetry's own", () => {
  assert.equal(otlpSettings({}), null);
  assert.equal(otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }), null);
  assert.equal(otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_SDK_DISABLED: "true" }), null);
  assert.deepEqual(
    otlpSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318/",
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Basic%20eA==,x-b=1",
      OTEL_SERVICE_NAME: "speech",
    }),
    { endpoint: "http://c:4318", headers: { authorization: "Basic eA==", "x-b": "1" }, serviceName: "speech" },
  );
});
