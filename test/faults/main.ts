// `npm run faults -- [name] [--n N] [--workers W] [--seed S] [--short] [--json]`: crash and race trials, too long for `npm test`, with their figures.
// On the embedded engine, or with PATCHBAY_TEST_ENGINE=postgres on the server of DATABASE_URL.
import { parseArgs } from "node:util";
import { runHangUps } from "./hang-ups/run-hang-ups.ts";
import { runCancelRaces } from "./jobs/cancel-races.ts";
import { runJobs } from "./jobs/run-jobs.ts";
import { runZombies } from "./jobs/zombies.ts";
import { runKillPoints } from "./kill-points.ts";
import { runSameKey } from "./same-key.ts";
import { runSubmitKills } from "./submit-kills.ts";
import { runTerminatedSessions } from "./terminated-sessions.ts";
import { runBudgets } from "./tenants/budgets.ts";
import { runRevocation } from "./tenants/revocation.ts";
import { runSharedQuotas } from "./tenants/shared-quotas.ts";
import { runWebhooks } from "./webhooks/run-webhooks.ts";

interface Trials {
  readonly engine: string;
  /** Independent trials. */
  readonly n: number;
  readonly violations: readonly string[];
  readonly seconds: number;
  readonly figures?: Readonly<Record<string, number | string>>;
}

interface FaultOptions {
  readonly n: number;
  readonly seed: number;
  readonly workers: number;
  readonly isShort: boolean;
}

interface Fault {
  readonly about: string;
  readonly defaultN: number;
  /** With `--short`, for every run of CI. */
  readonly shortN: number;
  run(options: FaultOptions): Promise<Trials>;
}

const isTalking = process.stderr.isTTY;
const FAULTS: Readonly<Record<string, Fault>> = {
  "kill-points": {
    about: "kill -9 at each moment of a keyed request, N times each",
    defaultN: 20,
    shortN: 2,
    run: (options) =>
      runKillPoints({
        ...options,
        onTrial: (point, done, total) => {
          if (isTalking) process.stderr.write(`\r${done}/${total} ${point.padEnd(24)}`);
        },
      }),
  },
  "submit-kills": {
    about: "kill -9 at each step of a keyed job's submission, N times each",
    defaultN: 20,
    shortN: 2,
    run: runSubmitKills,
  },
  "terminated-sessions": {
    about:
      "every session of the database ended between a provider's answer and its commit, N times at each of three moments; always on a PostgreSQL server of its own",
    defaultN: 34,
    shortN: 2,
    run: runTerminatedSessions,
  },
  "same-key": {
    about: "N rounds of 200 identical keyed requests at once over three gateways",
    defaultN: 10,
    shortN: 2,
    run: runSameKey,
  },
  "hang-ups": {
    about: "callers that vanish at each of 24 points of every way of answering, N times each",
    defaultN: 50,
    shortN: 2,
    run: runHangUps,
  },
  "cancel-races": {
    about: "N cancels against the completion of their jobs",
    defaultN: 2_000,
    shortN: 100,
    run: runCancelRaces,
  },
  jobs: {
    about:
      "N jobs while workers are killed and frozen and the database restarts; always on a PostgreSQL server of its own",
    defaultN: 5_000,
    shortN: 300,
    run: (options) =>
      runJobs({
        ...options,
        say: (text) => {
          if (isTalking) process.stderr.write(`\r${text.padEnd(40)}`);
        },
      }),
  },
  zombies: {
    about:
      "N jobs that were taken from a frozen worker and ended before it went on; always on a PostgreSQL server of its own",
    defaultN: 1_000,
    shortN: 40,
    run: runZombies,
  },
  budgets: {
    about: "N rushes of 500 transcriptions or chats against a budget for 100, half of them with kill -9 in the middle",
    defaultN: 20,
    shortN: 2,
    run: runBudgets,
  },
  revocation: {
    about:
      "N keys revoked or expired under load over three gateways, half of them without a notification; always on a PostgreSQL server of its own",
    defaultN: 200,
    shortN: 12,
    run: runRevocation,
  },
  "shared-quotas": {
    about: "N times 300 requests against a quota of 100 over three gateways; always on a PostgreSQL server of its own",
    defaultN: 48,
    shortN: 4,
    run: runSharedQuotas,
  },
  webhooks: {
    about:
      "N events to receivers that fail at random, while senders are killed; always on a PostgreSQL server of its own",
    defaultN: 5_000,
    shortN: 200,
    run: (options) =>
      runWebhooks({
        ...options,
        say: (text) => {
          if (isTalking) process.stderr.write(`\r${text.padEnd(40)}`);
        },
      }),
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    n: { type: "string" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "3" },
    short: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const names = positionals.length === 0 ? Object.keys(FAULTS) : positionals;
const seed = Number(values.seed);
const n = values.n === undefined ? null : Number(values.n);
const workers = Number(values.workers);
const unknown = names.filter((name) => FAULTS[name] === undefined);
const isCount = (number: number) => Number.isSafeInteger(number) && number > 0;
if (unknown.length > 0 || !Number.isSafeInteger(seed) || !isCount(workers) || (n !== null && !isCount(n))) {
  console.error("usage: npm run faults -- [name] [--n N] [--workers W] [--seed S] [--short] [--json]");
  for (const [name, { about }] of Object.entries(FAULTS)) console.error(`  ${name.padEnd(12)} ${about}`);
  process.exit(2);
}
// An interrupt ends what was started on the way out.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
for (const name of names) {
  const fault = FAULTS[name];
  if (fault === undefined) continue;
  const trials = await fault.run({
    n: n ?? (values.short ? fault.shortN : fault.defaultN),
    seed,
    workers,
    isShort: values.short,
  });
  // With no violation in n trials, the rate is below 3/n with 95 % confidence.
  const bound = trials.violations.length === 0 ? 3 / trials.n : null;
  if (values.json) console.log(JSON.stringify({ name, seed, ...trials, bound }));
  else {
    const share = bound === null ? "no bound" : `rate < ${(bound * 100).toPrecision(2)} % (95 %)`;
    const seconds = trials.seconds.toFixed(1);
    console.log(
      `${name} on ${trials.engine}: n = ${trials.n}, seed ${seed}, violations ${trials.violations.length}, ${share}, ${seconds} s`,
    );
    for (const [figure, value] of Object.entries(trials.figures ?? {})) console.log(`  ${figure}: ${value}`);
    for (const violation of trials.violations) console.log(`  ${violation}`);
  }
  if (trials.violations.length > 0) process.exitCode = 1;
}
