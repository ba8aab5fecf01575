// Composes alerts: their sources, the recording of what they report, and the deliveries. Everything runs on timers of its own, so that no request waits for it.
import { hostname } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Alert } from "../alerts/alert.ts";
import { createAlertDelivery, deliverAlerts } from "../alerts/deliver.ts";
import { alertDestinations } from "../alerts/destinations.ts";
import { raiseAlerts } from "../alerts/raise.ts";
import type { AlertServices } from "../alerts/services.ts";
import { createBudgetSource } from "../alerts/sources/budgets.ts";
import { createCircuitSource } from "../alerts/sources/circuits.ts";
import { readGivenUpDeliveries } from "../alerts/sources/deliveries.ts";
import { readLowDisks } from "../alerts/sources/disk.ts";
import { readFailingJobs } from "../alerts/sources/jobs.ts";
import { createRetirementSource } from "../alerts/sources/retirements.ts";
import { createSubstitutionSource, type Substitution } from "../alerts/sources/substitutions.ts";
import { readWorkspaces } from "../alerts/store/workspaces.ts";
import { sweepAlerts } from "../alerts/sweep.ts";
import type { Configuration } from "../config/configuration.ts";
import type { AlertEvent } from "../contract/alerts.ts";
import type { FollowedDirectory } from "../directory/follow-directory.ts";
import type { RequestRecord } from "../gateway/request-record.ts";
import { createRouteJudge } from "../gateway/retirement/judge-routes.ts";
import { createPeriodicTask, type PeriodicTask } from "../lib/concurrency/periodic-task.ts";
import type { Outbound } from "../outbound/dial.ts";
import { webhookPolicy } from "../outbound/url-policy.ts";
import type { ReportingCircuits } from "../providers/health.ts";
import { chatProviders, providers } from "../providers/registry.ts";
import type { Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createReceivers } from "../webhooks/receivers.ts";

export interface OpenAlertsOptions {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly pepper: Buffer;
  readonly logger: Logger;
  readonly outbound: Outbound;
  readonly circuits: Pick<ReportingCircuits, "report">;
  readonly metrics: Pick<Metrics, "alertRaised" | "alertAttempted">;
  readonly now: () => Date;
  /** The clock by which models retire. Default: `now`. */
  readonly modelClock?: () => Date;
  /** Connections, routes and prices: opened after the alerts. */
  readonly followed: () => Pick<FollowedDirectory, "directory" | "prices">;
}

export interface Alerts {
  /** Observers: they only remember, and never throw. */
  readonly recorded: (record: Pick<RequestRecord, "code" | "appId">) => void;
  readonly modelSubstituted: (substitution: Substitution) => void;
  /** Looks at every source and delivers what is due, now. For tests. */
  readonly runNow: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Source {
  readonly events: readonly AlertEvent[];
  readonly what: string;
  readonly periodMs: number;
  readonly read: () => Promise<readonly Alert[]>;
}

const MINUTE_MS = 60_000;
/** A circuit is seen to open at most this much too late. */
const CIRCUITS_MS = 10_000;
const SUBSTITUTIONS_MS = 10_000;
const DELIVER_MS = 5_000;
const PURGE_MS = 3_600_000;

export function openAlerts(options: OpenAlertsOptions): Alerts {
  const { configuration, database, pepper, logger, outbound, metrics, now } = options;
  const nowMs = () => now().getTime();
  const services: AlertServices = {
    database,
    destinations: alertDestinations(configuration, pepper),
    receivers: createReceivers(outbound, webhookPolicy(configuration.webhooks)),
    timeoutMs: configuration.limits.webhookTimeoutSeconds * 1000,
    nowMs,
    random: Math.random,
    logger,
    onRaised: metrics.alertRaised,
    onAttempt: metrics.alertAttempted,
  };
  const budgets = createBudgetSource();
  const substitutions = createSubstitutionSource(nowMs);
  const isWanted = ({ events }: Source): boolean =>
    services.destinations.some((destination) => events.some((event) => destination.events.has(event)));
  const sources = sourcesOf(options, budgets, substitutions).filter(isWanted);
  const purge = createPeriodicTask(PURGE_MS, logger, "purge alerts", (stopping) => sweepAlerts(database, stopping));
  const delivery = createAlertDelivery(services);
  const delivering =
    services.destinations.length === 0
      ? null
      : createPeriodicTask(DELIVER_MS, logger, "deliver alerts", (stopping) => delivery.start(stopping));
  const look = async ({ read }: Source): Promise<void> => {
    if ((await raiseAlerts(services, await read())) > 0) delivering?.runNow();
  };
  const tasks: readonly PeriodicTask[] = [
    ...sources.map((source) => createPeriodicTask(source.periodMs, logger, source.what, () => look(source))),
    ...(delivering === null ? [] : [delivering]),
    purge,
  ];
  const wantsBudgets = sources.some(({ events }) => events.includes("budget_exhausted"));
  const wantsSubstitutions = sources.some(({ events }) => events.includes("model_substitution"));
  return {
    recorded: (record) => {
      if (wantsBudgets) budgets.recorded(record);
    },
    modelSubstituted: (substitution) => {
      if (wantsSubstitutions) substitutions.observe(substitution);
    },
    runNow: async () => {
      for (const source of sources) await look(source);
      await delivery.settled();
      await deliverAlerts(services);
    },
    stop: async () => {
      await Promise.all(tasks.map((task) => task.stop()));
      await delivery.settled();
    },
  };
}

function sourcesOf(
  { configuration, database, circuits, now, modelClock = now, followed }: OpenAlertsOptions,
  budgets: ReturnType<typeof createBudgetSource>,
  substitutions: ReturnType<typeof createSubstitutionSource>,
): readonly Source[] {
  const { alertThresholds: thresholds, storage } = configuration;
  const { db } = bypassRls(database, "sweep");
  const nowMs = () => now().getTime();
  const workspacesOf = (ids: readonly string[]) => readWorkspaces(db, ids);
  const routing = { chatProviders, directory: () => followed().directory(), prices: () => followed().prices() };
  const radar = {
    ...routing,
    adapters: { speech: providers, chat: chatProviders },
    judge: createRouteJudge(routing),
    database,
    modelNowMs: () => modelClock().getTime(),
    nowMs,
    workspacesOf,
  };
  const { circuitOpenMinutes: openMinutes } = thresholds;
  const disks = {
    directories: { data_dir: storage.dataDir, spool: join(storage.dataDir, "spool") },
    minFreeBytes: thresholds.diskFreeBytes,
    host: hostname(),
    nowMs,
  };
  const failing = {
    share: thresholds.jobsFailingShare,
    minJobs: thresholds.jobsFailingMinJobs,
    windowMinutes: thresholds.jobsFailingWindowMinutes,
  };
  return [
    {
      events: ["circuit_open"],
      what: "look for open circuits",
      periodMs: CIRCUITS_MS,
      read: createCircuitSource({ circuits, openMinutes, nowMs, workspacesOf }),
    },
    {
      events: ["budget_soft_limit", "budget_exhausted"],
      what: "look for reached budgets",
      periodMs: MINUTE_MS,
      read: () => budgets.read(db),
    },
    {
      events: ["webhook_given_up"],
      what: "look for deliveries that were given up",
      periodMs: MINUTE_MS,
      read: () => readGivenUpDeliveries(db),
    },
    {
      events: ["jobs_failing"],
      what: "look for failing jobs",
      periodMs: MINUTE_MS,
      read: () => readFailingJobs(db, failing),
    },
    {
      events: ["disk_low"],
      what: "look for full disks",
      periodMs: MINUTE_MS,
      read: () => readLowDisks(disks),
    },
    {
      events: ["model_substitution"],
      what: "look for substituted models",
      periodMs: SUBSTITUTIONS_MS,
      read: () => substitutions.read(workspacesOf),
    },
    {
      events: ["retirement"],
      what: "look for retirements",
      periodMs: MINUTE_MS,
      read: createRetirementSource(radar),
    },
  ];
}
