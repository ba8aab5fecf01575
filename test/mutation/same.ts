// Mutants that change nothing: no test can notice them, so they are not counted. Each has its reason.
import type { Mutant } from "./changes.ts";

interface Same {
  readonly file: string;
  /** The mutated line as it is printed, whole. */
  readonly after: string;
  readonly why: string;
}

const UNREAD = "the result of a function that has none is never read";

const EMPTY_LIST = "the statement for an empty list finds nothing: only a round trip is saved";

const SAME: readonly Same[] = [
  {
    file: "src/outbound/address.ts",
    after: "const extra = EXTRA_SPECIAL.findLast(([, range]) => within(address, range));",
    why: "an address is in one of the ranges at most",
  },
  {
    file: "src/outbound/wire-call.ts",
    after: 'if (signal?.aborted) return !this.stop("aborted");',
    why: UNREAD,
  },
  {
    file: "src/outbound/wire-call.ts",
    after: 'if (this.#stopped !== null || this.#started) return !controller.abort(new Error("stopped"));',
    why: UNREAD,
  },
  {
    file: "src/outbound/guarded-requests.ts",
    after: 'if (isTaken) return !callback(new Error("one connection for one request"), null);',
    why: UNREAD,
  },
  {
    file: "src/audio/remote-audio.ts",
    after: "throw noted(services.logger, url, remoteError(error, true));",
    why: "a judgement sends nothing, so it fails in no way that depends on whether a reply had begun",
  },
  ...[
    "first !== undefined && this.#chunks.length === 1 && false",
    "first === undefined && this.#chunks.length === 1",
  ].map((isAlone) => ({
    file: "src/outbound/whole-reply.ts",
    after: `const bytes = ${isAlone} ? first : Buffer.concat(this.#chunks);`,
    why: "of one piece a copy is made, which says the same",
  })),
  ...["one <= other ? -1 : 1", "one < other ? -(1 + 1) : 1", "one < other ? -1 : (1 + 1)"].map((order) => ({
    file: "src/gateway/idempotency/fingerprint.ts",
    after: `.toSorted(([one], [other]) => (${order}))`,
    why: "no two members have the same name, and a sort looks at the sign alone",
  })),
  ...[
    ["claimed-jobs", "if (false && fences.length === 0) return [];"],
    ["jobs", "if (false && jobs.length === 0) return new Map();"],
    ["jobs", "if (false && ids.length === 0) return;"],
    ["job-sweep", "if (false && keys.length === 0) return new Set();"],
  ].map(([name, after = ""]) => ({ file: `src/jobs/store/${name}.ts`, after, why: EMPTY_LIST })),
  {
    file: "src/jobs/store/jobs.ts",
    after: 'const IS_PAST = sql         `coalesce(expires_at <= patchbay_now(), true)`.as("is_past");',
    why: "a job that has not ended has no result to hide",
  },
  ...["if (held.size >= 0) renew().catch(onError);", "if (true || held.size > 0) renew().catch(onError);"].map(
    (after) => ({
      file: "src/jobs/leases.ts",
      after,
      why: "a renewal of no lease sends nothing",
    }),
  ),
  {
    file: "src/jobs/submit-batch.ts",
    after: "const refusals = { expectedUntilMs: (0 + 1) };",
    why: "a process that accepts submissions is older than a millisecond",
  },
  ...[
    "return !times === undefined",
    "&& false ? []",
    'if (accepted === undefined) void new Error("a submission without its row");',
    'if (false && accepted === undefined) throw new Error("a submission without its row");',
  ].map((after) => ({
    file: "src/jobs/submit-batch.ts",
    after,
    why: "the insert returns each of its rows, and what a budget refused is answered before",
  })),
  ...[
    ["ledger", "settlements.length === 0 && false ? [] : (await runIn(tx, { settlements })).settled,"],
    ["ledger", "reservations.length === 0 && false ? [] : (await runIn(tx, { reservations })).reserved,"],
    ["store/attempts", "if (false && admitted.length === 0) return null;"],
    ["store/budget-windows", "if (false && keys.length === 0) return [];"],
    ["store/budget-windows", "if (false && list.length === 0) {"],
    ["store/budget-windows", "if (false && missing.length === 0) return;"],
    ["settle-queue", "if (queue.size() >= 0) flushLater(LINGER_MS);"],
    ["settle-queue", "if (true || queue.size() > 0) flushLater(LINGER_MS);"],
  ].map(([name, after = ""]) => ({ file: `src/metering/${name}.ts`, after, why: EMPTY_LIST })),
  ...[
    "if (answer === undefined && answers.length !== 1) throw new Error(`${answers.length} answers to one question`);",
    "if (answer === undefined || answers.length !== 1) void new Error(`${answers.length} answers to one question`);",
    "if (false && answer === undefined || answers.length !== 1) throw new Error(`${answers.length} answers to one question`);",
    'if (value === undefined) void new Error("an entry of the ledger without an answer");',
    'if (false && value === undefined) throw new Error("an entry of the ledger without an answer");',
  ].map((after) => ({
    file: "src/metering/ledger.ts",
    after,
    why: "a batch has an answer for each of its entries",
  })),
  ...[
    'if (true || "settled" in answer) return answer.settled;',
    'void "error" in answer ? answer.error : new Error("a settlement was answered as a reservation");',
    'throw "error" in answer && false ? answer.error : new Error("a settlement was answered as a reservation");',
    'throw "error" in answer || true ? answer.error : new Error("a settlement was answered as a reservation");',
  ].map((after) => ({
    file: "src/metering/ledger.ts",
    after,
    why: "settlements of a batch are retried: none is answered with an error",
  })),
  ...[
    ["settle-batch", "return used <= reserved ? used : reserved;"],
    ["budget", "return limit >= used ? limit - used : 0n;"],
  ].map(([name, after = ""]) => ({
    file: `src/metering/${name}.ts`,
    after,
    why: "both sides have the same result where they are equal",
  })),
  {
    file: "src/jobs/store/claimed-jobs.ts",
    after:
      "candidates = coalesce(${candidates === undefined && false ? null : JSON.stringify(candidates)}::jsonb, candidates)",
    why: "the driver sends undefined as null",
  },
  {
    file: "src/metering/lease-reclaimer.ts",
    after: "let returnedCount = (0 + 1);",
    why: "it is compared with an earlier value of itself alone",
  },
  {
    file: "src/metering/settle-batch.ts",
    after: "return attempt === undefined && false ? [] : movesOf({ attempt, ...spentBy(item, attempt) });",
    why: "what changed was open",
  },
  {
    file: "src/metering/ledger.ts",
    after: 'throw "error" in answer || true ? answer.error : new Error("a reservation was answered as a settlement");',
    why: "a reservation is answered as one, or with an error",
  },
];

/** Null: it changes something. */
export function sameness(file: string, { after }: Mutant): string | null {
  return SAME.find((each) => each.file === file && each.after === after)?.why ?? null;
}
