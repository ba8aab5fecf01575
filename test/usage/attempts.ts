// Settled attempts as the ledger leaves them, and what they must add up to: counted here one by one, without SQL.
import * as fc from "fast-check";
import { sql } from "kysely";
import { type AppId, brand, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { AMOUNT_NAMES, type AmountName } from "../../src/requests/store/usage-amounts.ts";
import { type OpenDatabase } from "../harness/postgres/database.ts";

export interface Attempt {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly keyId: string | null;
  readonly purpose: string | null;
  readonly model: string;
  readonly billingClass: "metered" | "provider_billed" | "simulated";
  readonly isChat: boolean;
  /** ISO. */
  readonly settledAt: string;
  readonly outcome: string;
  readonly unresolved: boolean;
  readonly audioMs: number;
  readonly billableMs: number;
  readonly tokens: readonly [input: number, output: number, cached: number] | null;
  readonly isEstimated: boolean;
  readonly chargeNanoUsd: number;
  readonly estimateNanoUsd: number | null;
}

export interface Place {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
}

/** `times`: the moments at which they may be settled. */
export function someAttempt(places: readonly Place[], times: fc.Arbitrary<Date>): fc.Arbitrary<Attempt> {
  const whole = fc.nat({ max: 10_000_000 });
  return fc
    .record({
      place: fc.constantFrom(...places),
      keyId: fc.option(fc.constantFrom("key_a", "key_b"), { nil: null }),
      purpose: fc.option(fc.constantFrom("meetings", "notes"), { nil: null }),
      model: fc.constantFrom("nova-3", "whisper-1"),
      billingClass: fc.constantFrom("metered" as const, "provider_billed" as const, "simulated" as const),
      isChat: fc.boolean(),
      settledAt: times.map((time) => time.toISOString()),
      outcome: fc.constantFrom("succeeded", "aborted", "failed:server_error", "unknown"),
      unresolved: fc.boolean(),
      audioMs: whole,
      billableMs: whole,
      tokens: fc.option(fc.tuple(whole, whole, whole), { nil: null }),
      isEstimated: fc.boolean(),
      chargeNanoUsd: whole,
      estimateNanoUsd: fc.option(whole, { nil: null }),
    })
    .map(({ place, ...rest }) => ({ id: newId("attempt"), ...place, ...rest }));
}

export async function insertAttempts({ db }: Pick<OpenDatabase, "db">, attempts: readonly Attempt[]): Promise<void> {
  if (attempts.length === 0) return;
  await db
    .insertInto("attempts")
    .values(
      attempts.map((attempt) => ({
        id: attempt.id,
        request_id: newId("request"),
        workspace_id: attempt.workspaceId,
        app_id: attempt.appId,
        key_id: attempt.keyId,
        endpoint: "POST /v1/transcription",
        connection: "dg",
        provider: "deepgram",
        model: attempt.model,
        position: 1,
        billing_class: attempt.billingClass,
        purpose: attempt.purpose,
        audio_ms: attempt.audioMs,
        reserved_nano_usd: attempt.chargeNanoUsd,
        reserved_tokens: attempt.isChat ? 1 : 0,
        estimate_nano_usd: attempt.estimateNanoUsd,
        price: null,
        state: "settled" as const,
        deadline_at: sql<Date>`patchbay_now()`,
        settled_at: sql<Date>`${attempt.settledAt}::timestamptz`,
        outcome: attempt.outcome,
        unresolved: attempt.unresolved,
        billable_audio_ms: attempt.billableMs,
        charge_nano_usd: attempt.chargeNanoUsd,
        input_tokens: attempt.tokens?.[0] ?? null,
        output_tokens: attempt.tokens?.[1] ?? null,
        cached_input_tokens: attempt.tokens?.[2] ?? null,
        usage_source: attempt.tokens === null ? null : attempt.isEstimated ? "estimated" : "reported",
      })),
    )
    .execute();
}

/** By the hour and whatever else distinguishes rows; what `usage_hours` and the attempts behind it must say together. */
export function countOneByOne(attempts: readonly Attempt[], groupOf: (attempt: Attempt) => string) {
  const groups = new Map<string, Record<AmountName, bigint>>();
  for (const attempt of attempts) {
    const name = groupOf(attempt);
    const sums = groups.get(name) ?? nothing();
    groups.set(name, sums);
    const amounts = amountsOf(attempt);
    for (const amount of AMOUNT_NAMES) sums[amount] += BigInt(amounts[amount]);
  }
  return groups;
}

function nothing(): Record<AmountName, bigint> {
  return Object.fromEntries(AMOUNT_NAMES.map((name) => [name, 0n])) as Record<AmountName, bigint>;
}

function amountsOf(attempt: Attempt): Record<AmountName, number> {
  const isDelivered = attempt.outcome === "succeeded" || attempt.outcome === "aborted";
  const [input, output, cached] = (isDelivered ? attempt.tokens : null) ?? [0, 0, 0];
  const { isEstimated } = attempt;
  return {
    attempts: 1,
    failed: isDelivered ? 0 : 1,
    audio_ms: isDelivered ? attempt.audioMs : 0,
    billable_audio_ms: isDelivered ? attempt.billableMs : 0,
    input_tokens: isEstimated ? 0 : input,
    output_tokens: isEstimated ? 0 : output,
    cached_input_tokens: isEstimated ? 0 : cached,
    estimated_input_tokens: isEstimated ? input : 0,
    estimated_output_tokens: isEstimated ? output : 0,
    charge_nano_usd: attempt.chargeNanoUsd,
    list_nano_usd: isDelivered ? (attempt.estimateNanoUsd ?? 0) : 0,
    unpriced: isDelivered && attempt.estimateNanoUsd === null ? 1 : 0,
    unresolved: attempt.unresolved ? 1 : 0,
  };
}

export function somePlaces(count: number): readonly Place[] {
  return Array.from({ length: count }, (_, index) => ({
    workspaceId: brand("workspace", `ws_${Math.floor(index / 2)}_${newId("workspace")}`),
    appId: brand("app", `app_${index}_${newId("app")}`),
  }));
}
