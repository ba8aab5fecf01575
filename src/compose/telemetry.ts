// Composes metrics and tracing: counters, spans, and gauges that are read at scrape time.
import type { Logger } from "pino";
import { packageVersion } from "../cli/package-root.ts";
import { accountKey, partsOfKey } from "../directory/account-key.ts";
import { modelsOf } from "../directory/models-of.ts";
import type { FollowedDirectory } from "../directory/follow-directory.ts";
import { type Directory, PLATFORM } from "../directory/snapshot.ts";
import { createRouteJudge } from "../gateway/retirement/judge-routes.ts";
import { readRetirements, type RetirementReading } from "../gateway/retirement/read-retirements.ts";
import { daysUntil } from "../providers/life-status.ts";
import type { ExchangeWatch } from "../http/server/edge.ts";
import type { Sample } from "../lib/metric-registry.ts";
import type { Outbound } from "../outbound/dial.ts";
import type { ReportingCircuits } from "../providers/health.ts";
import { chatProviders, providers } from "../providers/registry.ts";
import { budgetsByState } from "../metering/store/soft-limits.ts";
import type { Database } from "../storage/database.ts";
import { jobsByState } from "../jobs/store/jobs.ts";
import { createMetrics, type Metrics, WORKSPACE_MODEL, WORKSPACE_ROUTE } from "../telemetry/metrics.ts";
import { createOtlpExporter, type OtlpSettings } from "../telemetry/otlp.ts";
import { createTraces } from "../telemetry/traces.ts";
import { bypassRls } from "../storage/system.ts";

export interface OpenTelemetryOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly outbound: Outbound;
  /** Null or absent: no collector, so no spans. */
  readonly otlp?: OtlpSettings | null;
  readonly circuits: Pick<ReportingCircuits, "report">;
  /** Connections, routes and prices: opened after the telemetry. */
  readonly followed: () => Pick<FollowedDirectory, "directory" | "prices">;
  readonly now: () => Date;
  /** The clock by which models retire. Default: `now`. */
  readonly modelClock?: () => Date;
}

/** One observer that forwards every event to metrics and to tracing. */
export interface Telemetry extends Metrics, ExchangeWatch {
  close(): Promise<void>;
}

export function openTelemetry(options: OpenTelemetryOptions): Telemetry {
  const { database, circuits, followed, now, otlp, modelClock = now } = options;
  const directory = () => followed().directory();
  const judge = createRouteJudge({ chatProviders, directory, prices: () => followed().prices() });
  const version = packageVersion();
  const metrics = createMetrics({
    version,
    jobsByState: () => jobsByState(bypassRls(database, "operator").db),
    budgetsByState: () => budgetsByState(bypassRls(database, "operator").db),
    circuits: () => circuitSamples(circuits, directory(), now()),
    retirements: () => retirementSamples({ database, directory, judge }, modelClock().getTime()),
  });
  if (otlp === null || otlp === undefined)
    return { ...metrics, arrived: () => undefined, traceIdOf: null, close: async () => undefined };
  const exporter = createOtlpExporter(otlp, { ...options, version });
  const traces = createTraces(exporter.give);
  return {
    ...metrics,
    arrived: traces.arrived,
    traceIdOf: traces.traceIdOf,
    exchanged: (seen) => {
      metrics.exchanged(seen);
      traces.exchanged(seen);
    },
    recorded: (record) => {
      metrics.recorded(record);
      traces.recorded(record);
    },
    called: (seen) => {
      metrics.called(seen);
      traces.called(seen);
    },
    close: exporter.close,
  };
}

const [CLOSED, OPEN, PAUSED] = [0, 1, 2];

/**
 * By provider and model, over all accounts that were called or are paused; models of workspaces count as one. An open circuit takes precedence over a pause.
 */
function circuitSamples(circuits: OpenTelemetryOptions["circuits"], directory: Directory, at: Date): readonly Sample[] {
  const states = new Map<string, Sample & { value: number }>();
  const record = (kind: string, model: string, value: number): void => {
    const sample = states.get(`${kind}/${model}`) ?? { labels: [kind, model], value: CLOSED };
    if (sample.value !== OPEN && value !== CLOSED) sample.value = value;
    states.set(`${kind}/${model}`, sample);
  };
  for (const { key, isHealthy } of circuits.report()) {
    const { scope, connection, model } = partsOfKey(key);
    const kind = directory.account(accountKey(scope, connection))?.kind;
    if (kind !== undefined) record(kind, labelOf(scope, model), isHealthy ? CLOSED : OPEN);
  }
  for (const { account: key, model } of directory.pausedAt(at)) {
    const account = directory.account(key);
    if (account === undefined) continue;
    const { scope } = partsOfKey(key);
    const models = model === null ? modelsOf(account, ADAPTERS).map(({ name }) => name) : [model];
    for (const each of models) record(account.kind, labelOf(scope, each), PAUSED);
  }
  return [...states.values()];
}

function labelOf(scope: string, model: string): string {
  return scope === PLATFORM ? model : WORKSPACE_MODEL;
}

/**
 * By route and feature, the earliest date of each, also of a single app or data policy. Of workspaces, what their own routes lose, together. With 2,000 apps on
 * 50 routes a scrape takes 85 ms of CPU, in slices.
 */
async function retirementSamples(services: RetirementReading, nowMs: number): Promise<readonly Sample[]> {
  const retirements = (await readRetirements(services, null)).filter(({ kind }) => kind === "loss");
  // In the order of their dates, so that the first of each is the earliest.
  const samples = retirements.map(({ isSharedRoute, route, feature, evidence, date }) => ({
    labels: [isSharedRoute ? route.id : WORKSPACE_ROUTE, feature, evidence],
    value: daysUntil(date, nowMs),
  }));
  const earliest = [...Map.groupBy(samples, ({ labels }) => JSON.stringify(labels)).values()].flatMap((same) =>
    same.slice(0, 1),
  );
  // A gauge has a limited number of series. Combinations of features, which purposes of workspaces may multiply, displace no single feature.
  const isCombination = ({ labels }: Sample): boolean => labels[1]?.includes("+") === true;
  return [...earliest.filter((each) => !isCombination(each)), ...earliest.filter(isCombination)];
}

const ADAPTERS = { speech: providers, chat: chatProviders };
