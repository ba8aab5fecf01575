// Meters live audio: a slice is reserved durably before any of it is sent on, the next one ahead of its time, and each is settled by what
// was sent of it. Where a budget or a quota ends, the audio ends [realtime.slices] [realtime.budget-end].
import type { Principal } from "../../auth/principal.ts";
import { GatewayError } from "../../contract/errors.ts";
import type { AttemptId } from "../../contract/ids.ts";
import type { AttemptOutcome } from "../../metering/ledger-entries.ts";
import type { ProviderFailure } from "../../providers/wire/provider-failure.ts";
import type { ProviderTranscript } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { budgetExceeded } from "../calls/budget-exceeded.ts";
import { quoteFor } from "../calls/quote.ts";
import { reservationOf, uncharged } from "../calls/call-accounting.ts";
import type { Payer } from "../calls/candidate-run.ts";
import type { GatewayServices } from "../services.ts";

const SLICE_MS = 5_000;

interface LiveMeterOptions {
  readonly payer: Payer;
  readonly principal: Principal;
  readonly candidate: Candidate;
  readonly deadlineAtMs: number;
}

interface Slice {
  readonly attemptId: AttemptId;
  readonly fromMs: number;
  /** Tells the quotas how many of its seconds were sent. */
  readonly count: (seconds: number) => void;
}

export interface LiveMeter {
  /** To be awaited before anything is asked of the provider. Throws BUDGET_EXCEEDED or RATE_LIMITED. */
  begin(): Promise<void>;
  /** To be awaited before the audio up to `totalMs` goes on; throws as `begin` does. */
  pass(totalMs: number): Promise<void>;
  /** Settles what is open: charged by what was sent when it succeeded, or the caller stopped it. */
  end(outcome: AttemptOutcome, transcript?: ProviderTranscript, failure?: ProviderFailure | null): Promise<void>;
  passedMs(): number;
  /** Of the slice that was reserved last. */
  attemptId(): AttemptId;
}

export function createLiveMeter(services: GatewayServices, options: LiveMeterOptions): LiveMeter {
  const { payer, principal, candidate } = options;
  const open: Slice[] = [];
  /** Heard to their end, and not settled while the database was away: once more at the end. */
  const unsettled: Slice[] = [];
  const settling: Promise<void>[] = [];
  let passedMs = 0;
  let reservedMs = 0;
  let last: AttemptId | null = null;
  let coming: Promise<void> | null = null;
  let isOver = false;

  async function reserveNext(): Promise<void> {
    const count = await services.quotas.takeAudio(principal, SLICE_MS / 1000);
    const billing = quoteFor(services, payer, candidate.target, { audioMs: SLICE_MS, channels: 1 });
    const reservation = reservationOf(options, candidate, billing);
    const reserved = await services.ledger.reserve(reservation).catch((error: unknown) => {
      count(0);
      throw error;
    });
    if (!reserved.ok) {
      count(0);
      if ("exceeded" in reserved) throw budgetExceeded(reserved.exceeded);
      throw new GatewayError("INTERNAL", { message: "A live slice has no slot to lose." });
    }
    last = reservation.attemptId;
    open.push({ attemptId: reservation.attemptId, fromMs: reservedMs, count });
    reservedMs += SLICE_MS;
  }

  /** One at a time. What fails ahead of its time is tried again when it is due. */
  function reserve(): Promise<void> {
    coming ??= reserveNext().finally(() => {
      coming = null;
    });
    return coming;
  }

  const sentMs = ({ fromMs }: Slice): number => Math.max(0, Math.min(SLICE_MS, passedMs - fromMs));

  async function settle(
    slice: Slice,
    outcome: AttemptOutcome,
    transcript?: ProviderTranscript,
    failure: ProviderFailure | null = null,
  ): Promise<void> {
    const audioMs = sentMs(slice);
    const isCharged = outcome === "succeeded" || outcome === "aborted";
    const billing = quoteFor(services, payer, candidate.target, { audioMs, channels: 1 });
    await services.ledger.settle({
      ...uncharged(slice.attemptId, outcome, failure),
      audioMs,
      ...(isCharged ? { billableAudioMs: billing.billableMs, chargeNanoUsd: billing.chargeNanoUsd } : {}),
      ...(transcript === undefined
        ? {}
        : { providerRequestId: transcript.providerRequestId, receipts: transcript.receipts }),
    });
  }

  /** Of a session that ended meanwhile nothing more goes on, and what was reserved for it nobody would settle. */
  const needsMore = (totalMs: number): boolean => !isOver && totalMs > reservedMs;
  const settleHeard = (slice: Slice): Promise<void> =>
    settle(slice, "succeeded").catch(() => void unsettled.push(slice));
  return {
    begin: reserve,
    passedMs: () => passedMs,
    attemptId: () => {
      if (last === null) throw new Error("a call was made without a reservation");
      return last;
    },
    pass: async (totalMs) => {
      while (needsMore(totalMs)) await reserve();
      if (isOver) return;
      passedMs = totalMs;
      while (open[0] !== undefined && open[0].fromMs + SLICE_MS <= passedMs) {
        const done = open.shift();
        if (done !== undefined) settling.push(settleHeard(done));
      }
      if (reservedMs - passedMs < SLICE_MS / 2) reserve().catch(() => undefined);
    },
    end: async (outcome, transcript, failure) => {
      isOver = true;
      await coming?.catch(() => undefined);
      for (const slice of open) slice.count(sentMs(slice) / 1000);
      await Promise.all([...settling, ...open.splice(0).map((slice) => settle(slice, outcome, transcript, failure))]);
      await Promise.all(unsettled.splice(0).map((slice) => settle(slice, "succeeded")));
    },
  };
}
