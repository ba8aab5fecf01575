// The tests that run on the oldest supported PostgreSQL too, by story: files, or folders with a slash at the end. Data, and the only place
// that names them (scripts/test.ts).
export const CORE: Readonly<Record<string, readonly string[]>> = {
  transcription: [
    "test/http/transcription/happy.test.ts",
    "test/http/transcription/limits/budgets.test.ts",
    "test/http/transcription/database-away.test.ts",
    "test/http/transcription/limits/metered.test.ts",
  ],
  chat: [
    "test/http/chat/happy.test.ts",
    "test/http/chat/budgets.test.ts",
    "test/http/chat/idempotency.test.ts",
    "test/http/chat/unknown-outcome.test.ts",
  ],
  jobs: [
    "test/http/jobs/happy.test.ts",
    "test/http/jobs/idempotency.test.ts",
    "test/jobs/cancel.test.ts",
    "test/jobs/purge.test.ts",
    "test/jobs/states.test.ts",
    "test/queue/",
  ],
  idempotency: ["test/idempotency/", "test/http/transcription/idempotency.test.ts"],
  metering: ["test/metering/", "test/quotas/shared-counters.test.ts", "test/usage/roll-up.test.ts"],
  webhooks: ["test/webhooks/deliver.test.ts", "test/webhooks/fairness.test.ts", "test/http/stt-webhook/happy.test.ts"],
  tenancy: [
    "test/storage/roles.test.ts",
    "test/storage/tenancy.test.ts",
    "test/http/transcription/tenancy.test.ts",
    "test/http/jobs/tenancy.test.ts",
  ],
  storage: [
    "test/auth/revocation.test.ts",
    "test/directory/running-keys.test.ts",
    "test/operations/pooled-gateways.test.ts",
    "test/storage/data-keys.test.ts",
    "test/storage/database.test.ts",
    "test/storage/pooler.test.ts",
    "test/storage/prepared.test.ts",
  ],
};
