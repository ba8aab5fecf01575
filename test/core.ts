// The tests that also run on the oldest supported PostgreSQL, in groups with the reason for each. Data, and the only place that names them (scripts/test.ts).

export interface CoreGroup {
  /** What could differ between server versions. */
  readonly why: string;
  /** Test files, or folders with a slash at the end. */
  readonly files: readonly string[];
}

export const CORE: Readonly<Record<string, CoreGroup>> = {
  transcription: {
    why: "The whole path of a request, from its reservation to its settlement, and what happens while the server is unavailable.",
    files: [
      "test/http/transcription/happy.test.ts",
      "test/http/transcription/limits/budgets.test.ts",
      "test/http/transcription/database-unavailable.test.ts",
      "test/http/transcription/limits/metered.test.ts",
    ],
  },
  chat: {
    why: "Reserves and settles tokens, which transcription does not.",
    files: [
      "test/http/chat/happy.test.ts",
      "test/http/chat/budgets.test.ts",
      "test/http/chat/idempotency.test.ts",
      "test/http/chat/unknown-outcome.test.ts",
    ],
  },
  jobs: {
    why: "Claims rows with `for update skip locked` and wakes workers by `notify`.",
    files: [
      "test/http/jobs/happy.test.ts",
      "test/http/jobs/idempotency.test.ts",
      "test/jobs/batches.test.ts",
      "test/jobs/cancel.test.ts",
      "test/jobs/fences.test.ts",
      "test/jobs/job-store.test.ts",
      "test/jobs/purge.test.ts",
      "test/jobs/states.test.ts",
      "test/jobs/sweep-queries.test.ts",
      "test/queue/",
    ],
  },
  idempotency: {
    why: "Equal keys race for one row: `insert … on conflict` and row locks decide.",
    files: ["test/idempotency/", "test/http/transcription/idempotency.test.ts"],
  },
  metering: {
    why: "Sums money and quotas exactly, over leases and roll-ups that are written concurrently.",
    files: ["test/metering/", "test/quotas/shared-counters.test.ts", "test/usage/roll-up.test.ts"],
  },
  webhooks: {
    why: "Deliveries are durable queue entries with their own schedule. A conditional upsert elects the process that sends an alert.",
    files: [
      "test/webhooks/batches.test.ts",
      "test/webhooks/deliver.test.ts",
      "test/webhooks/fairness.test.ts",
      "test/http/stt-webhook/happy.test.ts",
      "test/alerts/raise.test.ts",
    ],
  },
  tenancy: {
    why: "Row-level security and the privileges of roles change between server versions.",
    files: [
      "test/storage/roles.test.ts",
      "test/storage/tenancy.test.ts",
      "test/http/transcription/tenancy.test.ts",
      "test/http/jobs/tenancy.test.ts",
    ],
  },
  storage: {
    why: "Connections, poolers, prepared statements and notifications depend on the server itself.",
    files: [
      "test/auth/revocation.test.ts",
      "test/directory/running-keys.test.ts",
      "test/operations/pooled-gateways.test.ts",
      "test/storage/data-keys.test.ts",
      "test/storage/database.test.ts",
      "test/storage/pooler.test.ts",
      "test/storage/prepared.test.ts",
    ],
  },
};
