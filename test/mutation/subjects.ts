// What is broken, and which tests are to notice: the quick ones first.
import type { Besides } from "./changes.ts";

export interface Subject {
  readonly file: string;
  readonly tests: readonly string[];
  readonly besides?: readonly Besides[];
}

const ROUTING = [
  "test/routing/required-features.test.ts",
  "test/routing/decide-route.test.ts",
  "test/routing/purpose.test.ts",
  "test/routing/decide-chat-route.test.ts",
  "test/routing/decide-translation.test.ts",
  "test/routing/judge-cut.test.ts",
  "test/routing/live-audio.test.ts",
  "test/routing/model-limits.test.ts",
];
const WAY_OUT = [
  "test/outbound/scripted.test.ts",
  "test/outbound/caller.test.ts",
  "test/outbound/dial.test.ts",
  "test/outbound/stream.test.ts",
];
const LEASES = [
  "test/metering/lease.test.ts",
  "test/metering/lease-growth.test.ts",
  "test/metering/leases.test.ts",
  "test/metering/soft-limits.test.ts",
  "test/metering/lease-reclaimer.test.ts",
];
const LEDGER = [
  "test/metering/ledger-figures.test.ts",
  "test/metering/ledger.test.ts",
  "test/metering/leases.test.ts",
  "test/metering/lease-reclaimer.test.ts",
];
const ENDS_OF_JOBS = ["test/jobs/batches.test.ts", "test/jobs/one-go.test.ts"];
const SUBMISSIONS = [
  "test/jobs/batches.test.ts",
  "test/jobs/submit-batch.test.ts",
  "test/jobs/local-start.test.ts",
  "test/http/jobs/idempotency.test.ts",
  "test/http/jobs/refusal.test.ts",
];
const SLOTS = ["test/idempotency/idempotency.test.ts"];

/**
 * The code behind R1, R2, R5 and R8, and behind budgets: at least 90 % of its mutants must be killed (docs/reference/guarantees.md). Tests are those that
 * notice soonest. Those that start several gateways are not among them, because one run takes up to a minute.
 */
export const SUBJECTS: Readonly<Record<string, readonly Subject[]>> = {
  guard: [
    { file: "src/outbound/address.ts", tests: ["test/outbound/address.test.ts", "test/outbound/guard.test.ts"] },
    { file: "src/outbound/url-policy.ts", tests: ["test/outbound/guard.test.ts", "test/outbound/caller.test.ts"] },
    { file: "src/outbound/ssrf-rules.ts", tests: ["test/outbound/guard.test.ts", "test/outbound/caller.test.ts"] },
    { file: "src/outbound/guard.ts", tests: ["test/outbound/guard.test.ts", "test/outbound/caller.test.ts"] },
    { file: "src/outbound/refusal.ts", tests: ["test/outbound/guard.test.ts", "test/outbound/caller.test.ts"] },
    { file: "src/outbound/dial.ts", tests: WAY_OUT },
    { file: "src/outbound/guarded-requests.ts", tests: WAY_OUT },
    { file: "src/outbound/wire-call.ts", tests: WAY_OUT },
    { file: "src/outbound/whole-reply.ts", tests: WAY_OUT },
    { file: "src/outbound/stream-reply.ts", tests: WAY_OUT },
    { file: "src/audio/remote-audio.ts", tests: ["test/audio/remote-audio.test.ts"] },
    {
      file: "src/outbound/system-network.ts",
      tests: ["test/outbound/system-network.test.ts", "test/outbound/system-resolver.test.ts"],
    },
    {
      file: "src/audio/remote-reply.ts",
      tests: ["test/audio/remote-reply.test.ts", "test/audio/remote-audio.test.ts"],
    },
    { file: "src/lib/text/host-name.ts", tests: ["test/lib/host-name.test.ts"] },
  ],
  router: [
    "decide-route",
    "decide-chat-route",
    "decide-translation",
    "judge-cut",
    "judge-target",
    "pick-candidates",
    "audio-input-override",
    "purpose-defaults",
    "required-features",
    "resolve-purpose",
  ].map((name) => ({ file: `src/routing/${name}.ts`, tests: ROUTING })),
  idempotency: [
    { file: "src/gateway/idempotency/idempotency.ts", tests: SLOTS },
    { file: "src/storage/idempotency-slots.ts", tests: SLOTS, besides: ["sql"] },
    { file: "src/gateway/idempotency/with-slot.ts", tests: ["test/idempotency/with-slot.test.ts"] },
    { file: "src/gateway/idempotency/slot-journal.ts", tests: ["test/idempotency/with-slot.test.ts"] },
    { file: "src/gateway/idempotency/fingerprint.ts", tests: ["test/gateway/fingerprint.test.ts"] },
  ],
  leases: ["lease", "lease-pool", "grow-lease", "leases", "lease-reclaimer"].map((name) => ({
    file: `src/metering/${name}.ts`,
    tests: LEASES,
  })),
  ledger: [
    ...["ledger", "ledger-batch", "reserve-batch", "settle-batch", "settle-leased"].map((name) => ({
      file: `src/metering/${name}.ts`,
      tests: LEDGER,
    })),
    { file: "src/metering/settle-queue.ts", tests: ["test/metering/settle-queue.test.ts"] },
    { file: "src/metering/budget.ts", tests: ["test/metering/price.test.ts", ...LEDGER] },
    ...["attempts", "budget-windows", "lock-budget-windows", "leased-attempts"].map((name) => ({
      file: `src/metering/store/${name}.ts`,
      tests: LEDGER,
      besides: ["sql" as const],
    })),
  ],
  jobs: [
    { file: "src/jobs/store/claimed-jobs.ts", tests: ["test/jobs/fences.test.ts"], besides: ["sql"] },
    { file: "src/jobs/store/end-jobs.ts", tests: ["test/jobs/fences.test.ts", ...ENDS_OF_JOBS], besides: ["sql"] },
    { file: "src/jobs/store/job-sweep.ts", tests: ["test/jobs/sweep-queries.test.ts"], besides: ["sql"] },
    {
      file: "src/jobs/store/jobs.ts",
      tests: ["test/jobs/job-store.test.ts", "test/jobs/fences.test.ts"],
      besides: ["sql"],
    },
    { file: "src/jobs/end-batch.ts", tests: ENDS_OF_JOBS },
    { file: "src/jobs/leases.ts", tests: ["test/jobs/leases.test.ts"] },
    { file: "src/jobs/submit-batch.ts", tests: SUBMISSIONS },
    { file: "src/jobs/local-starts.ts", tests: ["test/jobs/local-start.test.ts"] },
  ],
  signatures: [
    { file: "src/webhooks/sign.ts", tests: ["test/webhooks/signature.test.ts"], besides: ["text"] },
    { file: "src/webhooks/verify.ts", tests: ["test/webhooks/signature.test.ts"], besides: ["text"] },
    { file: "src/objects/result-token.ts", tests: ["test/objects/result-token.test.ts"], besides: ["text"] },
  ],
};
