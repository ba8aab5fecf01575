// The trials of `npm run faults`, in the order of their guarantees. docs/faults.md describes what each proves.
import { runClockSkew } from "./clocks/clock-skew.ts";
import { runDiskFull } from "./disks/disk-full.ts";
import { runEmbeddedKills } from "./embedded/run-embedded-kills.ts";
import { runFlushOrder } from "./embedded/run-flush-order.ts";
import { runFailover } from "./failover/run-failover.ts";
import type { Fault } from "./fault.ts";
import { runHangUps } from "./hang-ups/run-hang-ups.ts";
import { runHostileClients } from "./hostile/hostile-clients.ts";
import { runHostileProviders } from "./hostile/hostile-providers.ts";
import { runHostileReplies } from "./hostile/hostile-replies.ts";
import { runCancelRaces } from "./jobs/cancel-races.ts";
import { runJobs } from "./jobs/run-jobs.ts";
import { runZombies } from "./jobs/zombies.ts";
import { runEngineKills } from "./local/engine-kills.ts";
import { runKillPoints } from "./kill-points.ts";
import { runUnreadAnswers } from "./memory/unread-answers.ts";
import { runUploads } from "./memory/uploads.ts";
import { runDatabaseNetwork } from "./network/database-network.ts";
import { runProviderNetwork } from "./network/provider-network.ts";
import { onTestServer } from "./on-test-server.ts";
import { runRollingRestart } from "./restarts/rolling-restart.ts";
import { runSameKey } from "./same-key.ts";
import { runSoak } from "./soak/run-soak.ts";
import { runSubmitKills } from "./submit-kills.ts";
import { runTerminatedSessions } from "./terminated-sessions.ts";
import { runBudgets } from "./tenants/budgets.ts";
import { runRevocation } from "./tenants/revocation.ts";
import { runSharedQuotas } from "./tenants/shared-quotas.ts";
import { runUnknownKeys } from "./tenants/unknown-keys.ts";
import { runWebhooks } from "./webhooks/run-webhooks.ts";

export const FAULTS: Readonly<Record<string, Fault>> = {
  "kill-points": {
    about: "kill -9 at each moment of a keyed request, N times each",
    promises: ["R1", "R2"],
    defaultN: 20,
    shortN: 2,
    run: (options) =>
      runKillPoints({ ...options, onTrial: (point, done, total) => options.say(`${done}/${total} ${point}`) }),
  },
  "submit-kills": {
    about: "kill -9 at each step of a keyed job's submission, N times each",
    promises: ["R1", "R3"],
    defaultN: 20,
    shortN: 2,
    run: runSubmitKills,
  },
  "terminated-sessions": {
    about:
      "every session of the database ended between a provider's answer and its commit, N times at each of three moments; always on a PostgreSQL server of its own",
    promises: ["R1"],
    defaultN: 34,
    shortN: 2,
    run: runTerminatedSessions,
  },
  "same-key": {
    about: "N rounds of 200 identical keyed requests at once over three gateways",
    promises: ["R1", "R2"],
    defaultN: 10,
    shortN: 2,
    run: onTestServer(runSameKey),
  },
  "database-network": {
    about:
      "N times the network between two gateways and their database forgets, resets, cuts, holds up or trickles, under keyed requests; always on a PostgreSQL server of its own",
    promises: ["R1", "R2"],
    defaultN: 36,
    shortN: 6,
    run: runDatabaseNetwork,
  },
  "provider-network": {
    about:
      "N keyed requests while the network between the gateway and its provider resets, cuts, forgets, holds up or trickles",
    promises: ["R1", "R2"],
    defaultN: 1_400,
    shortN: 56,
    run: onTestServer(runProviderNetwork),
  },
  "clock-skew": {
    about:
      "N keys and N jobs over three gateways whose clocks are right, fast and slow by an hour, then by ten minutes; always on a PostgreSQL server of its own",
    promises: ["R1", "R2", "R3"],
    defaultN: 300,
    shortN: 12,
    run: runClockSkew,
  },
  "disk-full": {
    about:
      "N requests and jobs around moments in which the gateway can write to no file, its log included; needs prlimit; always on a PostgreSQL server of its own",
    promises: ["R1", "R3"],
    defaultN: 80,
    shortN: 8,
    run: runDiskFull,
  },
  jobs: {
    about:
      "N jobs while workers are killed and frozen and the database restarts; always on a PostgreSQL server of its own",
    promises: ["R3", "R4", "R7"],
    defaultN: 5_000,
    shortN: 150,
    run: runJobs,
  },
  zombies: {
    about:
      "N jobs that were taken from a frozen worker and ended before it continued; always on a PostgreSQL server of its own",
    promises: ["R5"],
    defaultN: 1_000,
    shortN: 40,
    run: runZombies,
  },
  "cancel-races": {
    about: "N cancels against the completion of their jobs",
    promises: ["R6"],
    defaultN: 2_000,
    shortN: 100,
    run: onTestServer(runCancelRaces),
  },
  webhooks: {
    about:
      "N events to receivers that fail at random, while senders are killed; always on a PostgreSQL server of its own",
    promises: ["R7"],
    defaultN: 5_000,
    shortN: 200,
    run: runWebhooks,
  },
  revocation: {
    about:
      "N keys revoked or expired under load over three gateways, half of them without a notification; always on a PostgreSQL server of its own",
    promises: ["R10"],
    defaultN: 200,
    shortN: 12,
    run: runRevocation,
  },
  "unknown-keys": {
    about:
      "64 connections that guess keys, while N requests with a valid one are timed before and during, with embedded storage and on a PostgreSQL server of its own",
    promises: ["R9"],
    defaultN: 300,
    shortN: 30,
    run: runUnknownKeys,
  },
  "hostile-clients": {
    about:
      "N sockets held open at once by callers that say nothing, half a head, a byte a second, or never read; always on a PostgreSQL server of its own",
    promises: ["R9"],
    defaultN: 9_500,
    shortN: 1_000,
    run: runHostileClients,
  },
  "hostile-providers": {
    about:
      "N requests to providers that answer without end, compressed, byte by byte, never, or not in HTTP; always on a PostgreSQL server of its own",
    promises: ["R9"],
    defaultN: 400,
    shortN: 40,
    run: runHostileProviders,
  },
  "hostile-replies": {
    about:
      "N rounds of eight uploads and 24 chats at once whose provider answers 64 MiB of small values, strings, brackets or events; always on a PostgreSQL server of its own",
    promises: ["R17"],
    defaultN: 20,
    shortN: 10,
    run: runHostileReplies,
  },
  uploads: {
    about: "N uploads of 25 MiB at once into one gateway; always on a PostgreSQL server of its own",
    promises: ["R13"],
    defaultN: 200,
    shortN: 40,
    run: runUploads,
  },
  "unread-answers": {
    about: "N callers that ask for answers of megabytes and never read them; always on a PostgreSQL server of its own",
    promises: ["R17"],
    defaultN: 180,
    shortN: 60,
    run: runUnreadAnswers,
  },
  "rolling-restart": {
    about:
      "two gateways behind a balancer, stopped and started one after the other 20 times (short: 2) under N requests of every kind; always on a PostgreSQL server of its own",
    promises: ["R14"],
    defaultN: 10_000,
    shortN: 600,
    run: runRollingRestart,
  },
  failover: {
    about:
      "N times the primary of two gateways is killed under 300 keyed submissions (short: 90) and its synchronous standby promoted; always on PostgreSQL servers of its own",
    promises: ["R16"],
    defaultN: 3,
    shortN: 1,
    run: runFailover,
  },
  soak: {
    about:
      "N mixed requests a second to one gateway as users start it for 60 minutes (short: 2); on a PostgreSQL server of its own, or with --embedded",
    promises: ["R19"],
    defaultN: 100,
    shortN: 100,
    run: runSoak,
  },
  "embedded-kills": {
    about:
      "N times kill -9 of a gateway with embedded storage, its PostgreSQL server, both or the guard, under load, in a start and in a stop",
    promises: ["R1", "R3", "R20"],
    defaultN: 100,
    shortN: 8,
    run: runEmbeddedKills,
  },
  "flush-order": {
    about:
      "N keyed requests and jobs with strace on a gateway and its embedded server: what leaves before its commit is flushed; needs strace",
    promises: ["R1", "R3"],
    defaultN: 60,
    shortN: 6,
    run: runFlushOrder,
  },
  "hang-ups": {
    about: "callers that vanish at each of 24 points of every way of answering, N times each",
    promises: ["R15"],
    defaultN: 50,
    shortN: 2,
    run: onTestServer(runHangUps),
  },
  "engine-kills": {
    about: "N times kill -9 of the local engine's process at a random moment of a decode, under requests and a job",
    promises: ["local.crash-definite"],
    defaultN: 200,
    shortN: 8,
    run: onTestServer(runEngineKills),
  },
  budgets: {
    about: "N rushes of 500 transcriptions or chats against a budget for 100, half of them with kill -9 in the middle",
    promises: ["budgets"],
    defaultN: 20,
    shortN: 2,
    run: runBudgets,
  },
  "shared-quotas": {
    about: "N times 300 requests against a quota of 100 over three gateways; always on a PostgreSQL server of its own",
    promises: ["quotas"],
    defaultN: 48,
    shortN: 4,
    run: runSharedQuotas,
  },
};
