// The metrics of `/metrics`: names, labels and what is counted. Labels never contain an id, an address, or text from a caller or a workspace, only endpoints,
// methods, provider kinds, models that the operator configured, kinds and outcomes.
import type { ObservedCall, Observer } from "../gateway/calls/observer.ts";
import type { RequestRecord } from "../gateway/request-record.ts";
import type { ExchangeWatch, ObservedExchange } from "../http/server/edge.ts";
import { countLater } from "./count-later.ts";
import { createMetricRegistry, type MetricRegistry, type Sample } from "../lib/metric-registry.ts";

export interface Metrics extends Observer, Pick<ExchangeWatch, "exchanged" | "unreadable"> {
  readonly recorded: (record: RequestRecord) => void;
  readonly webhookAttempted: (outcome: string) => void;
  readonly alertRaised: (event: string) => void;
  readonly alertAttempted: (outcome: string) => void;
  readonly text: MetricRegistry["text"];
}

/** Values that are read at each scrape instead of being counted. */
export interface MetricSources {
  readonly version: string;
  readonly jobsByState: () => Promise<readonly Sample[]>;
  readonly budgetsByState: () => Promise<readonly Sample[]>;
  /** By provider and model: 0 = closed, 1 = open, 2 = paused manually. */
  readonly circuits: () => readonly Sample[];
  /** By route, feature and evidence: days until the route can no longer deliver it. */
  readonly retirements: () => Promise<readonly Sample[]>;
}

/** Label for all models of workspaces' own connections: their names would exhaust the bounded series of the operator's models. */
export const WORKSPACE_MODEL = "(workspace)";

/** The same for routes of workspaces. */
export const WORKSPACE_ROUTE = WORKSPACE_MODEL;

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const JOB_SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 10_800, 21_600];
const NANO_PER_USD = 1e9;
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]);
/** Bound of the remembered failed calls. A fallback follows its failed call immediately, so there are never more of them in between. */
const MAX_FAILED = 10_000;

export function createMetrics(sources: MetricSources): Metrics {
  const registry = createMetricRegistry();
  const calls = countCalls(registry);
  const routes = countRoutes(registry);
  const requests = registry.counter("svc_http_requests_total", "Requests answered.", ["route", "method", "status"]);
  const requestSeconds = registry.histogram(
    "svc_http_request_duration_seconds",
    "From the head of a request to the end of its answer.",
    ["route", "method"],
    REQUEST_SECONDS,
  );
  const unreadable = registry.counter(
    "svc_http_unreadable_total",
    "Refused before it could be read as a request: broken HTTP, a head too long or too slow.",
    ["code"],
  );
  const waits = registry.histogram("svc_job_wait_seconds", "From a job's submission to its start.", [], JOB_SECONDS);
  const runs = registry.histogram("svc_job_run_seconds", "From a job's start to its end.", [], JOB_SECONDS);
  const webhooks = registry.counter("svc_webhook_attempts_total", "Attempts to deliver an event.", ["outcome"]);
  const alerts = registry.counter("svc_alerts_total", "Alerts recorded, for each destination.", ["event"]);
  const alertAttempts = registry.counter("svc_alert_attempts_total", "Attempts to deliver an alert.", ["outcome"]);
  registry.gauge("svc_jobs", "Jobs that have not ended, of all processes.", ["state"], sources.jobsByState);
  registry.gauge(
    "svc_budgets",
    "Budgets by what is spent of them in the windows of now, of all processes.",
    ["state"],
    sources.budgetsByState,
  );
  registry.gauge(
    "svc_provider_circuit_state",
    "Circuit of a model: 0 = closed, 1 = open on at least one account, 2 = paused manually.",
    ["provider", "model"],
    async () => sources.circuits(),
  );
  registry.gauge(
    "svc_model_retirement_days",
    "Days until a route loses a feature because a provider ends its last capable model. 0 or less: it has lost it.",
    ["route", "feature", "evidence"],
    sources.retirements,
  );
  registry.gauge("svc_build_info", "This process.", ["version", "node"], async () => [
    { labels: [sources.version, process.versions.node], value: 1 },
  ]);
  const called = countLater(calls.called);
  const exchanged = countLater<ObservedExchange>(({ route, method, status, startedAtMs, endedAtMs }) => {
    const path = route ?? "none";
    const methodLabel = METHODS.has(method) ? method : "OTHER";
    requests.add([path, methodLabel, String(status)]);
    requestSeconds.observe([path, methodLabel], (endedAtMs - startedAtMs) / 1000);
  });
  return {
    ...calls,
    ...routes,
    called: called.push,
    exchanged: exchanged.push,
    unreadable: (code) => unreadable.add([code]),
    jobEnded: ({ waitMs, runMs }) => {
      waits.observe([], waitMs / 1000);
      runs.observe([], runMs / 1000);
    },
    webhookAttempted: (outcome) => webhooks.add([outcome]),
    alertRaised: (event) => alerts.add([event]),
    alertAttempted: (outcome) => alertAttempts.add([outcome]),
    text: () => {
      called.flush();
      exchanged.flush();
      return registry.text();
    },
  };
}

function countCalls(registry: MetricRegistry): Pick<Metrics, "called" | "modelSubstituted"> {
  const attempts = registry.counter("svc_upstream_attempts_total", "Calls to providers.", [
    "provider",
    "model",
    "operation",
    "outcome",
  ]);
  const seconds = registry.histogram(
    "svc_upstream_attempt_duration_seconds",
    "Calls to providers, from their reservation to their end.",
    ["provider", "model", "operation"],
    CALL_SECONDS,
  );
  const fallbacks = registry.counter("svc_fallbacks_total", "Calls made because the one before failed.", [
    "operation",
    "reason",
  ]);
  const substitutions = registry.counter(
    "svc_model_substitutions_total",
    "Answers by another model than the one asked.",
    ["provider", "model", "operation", "outcome"],
  );
  const billed = ["provider", "model", "billing"];
  const audio = registry.counter("svc_audio_seconds_total", "Audio that providers answered for.", billed);
  const cost = registry.counter("svc_cost_usd_total", "What apps were charged.", billed);
  const failed = new Map<string, string>();

  const countFallback = ({ requestId, operation, outcome }: ObservedCall): void => {
    const previousFailure = failed.get(requestId);
    if (previousFailure !== undefined) {
      fallbacks.add([operation, previousFailure]);
      failed.delete(requestId);
    }
    if (outcome === "succeeded") return;
    failed.set(requestId, outcome);
    if (failed.size <= MAX_FAILED) return;
    for (const oldest of failed.keys()) {
      failed.delete(oldest);
      break;
    }
  };
  return {
    // Not by the name that answered: a server may write any.
    modelSubstituted: ({ provider, asked, isWorkspaceOwned, operation, isRefused }) =>
      substitutions.add([
        provider,
        isWorkspaceOwned ? WORKSPACE_MODEL : asked,
        operation,
        isRefused ? "withheld" : "used",
      ]),
    called: (seen) => {
      const { provider, operation, outcome, spent } = seen;
      const model = seen.isWorkspaceOwned ? WORKSPACE_MODEL : seen.model;
      attempts.add([provider, model, operation, outcome]);
      seconds.observe([provider, model, operation], (seen.endedAtMs - seen.startedAtMs) / 1000);
      if (outcome !== "succeeded" || failed.size > 0) countFallback(seen);
      if (spent === null) return;
      const labels = [provider, model, spent.billingClass];
      if (spent.audioMs > 0) audio.add(labels, spent.audioMs / 1000);
      cost.add(labels, Number(spent.chargeNanoUsd) / NANO_PER_USD);
    },
  };
}

function countRoutes(registry: MetricRegistry): Pick<Metrics, "recorded"> {
  const rejections = registry.counter("svc_route_rejections_total", "Requests that no target could take.", ["reason"]);
  const keys = registry.counter("svc_idempotency_total", "Requests with an idempotency key.", ["outcome"]);
  return {
    recorded: ({ refusal, keyUse }) => {
      if (refusal !== null) rejections.add([refusal]);
      if (keyUse !== "not_sent") keys.add([keyUse]);
    },
  };
}
