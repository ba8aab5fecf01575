// Meters live audio in slices: each is reserved durably before it is sent, ahead of time, and settled by what was sent of it. When a budget or a quota is
// exhausted, the audio ends [realtime.slices] [realtime.budget-end].
import type { Principal } from "../../auth/principal.ts";
import { GatewayError } from "../../contract/errors.ts";
import type { AttemptId } from "../../contract/ids.ts";
import type { AttemptOutcome } from "../../metering/ledger-entries.ts";
import type { ProviderTranscript } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { budgetExceeded } from "../billing/budget-exceeded.ts";
import { quoteFor } from "../billing/audio-quote.ts";
import { reservationOf, type UnusedAnswer, unchargedSettlement } from "../billing/call-accounting.ts";
import type { Payer } from "../account/payer.ts";
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
  /** Reports to the quotas how many of its seconds were sent. */
  readonly count: (seconds: number) => void;
}

export interface LiveMeter {
  /** Must be awaited before the provider is called. Throws BUDGET_EXCEEDED or RATE_LIMITED. */
  begin(): Promise<void>;
  /** Must be awaited before the audio up to `totalMs` is sent. Throws as `begin` does. */
  pass(totalMs: number): Promise<void>;
  /** Settles the open slices. Charged by what was sent if the call succeeded or the caller stopped it. */
  end(outcome: AttemptOutcome, transcript?: ProviderTranscript, unused?: UnusedAnswer): Promise<void>;
  passedMs(): number;
  /** The attempt of the slice that was reserved last. */
  attemptId(): AttemptId;
}

export function createLiveMeter(services: GatewayServices, options: LiveMeterOptions): LiveMeter {
  const { payer, principal, candidate } = options;
  const openSlices: Slice[] = [];
  /** Slices that were sent completely and could not be settled while the database was unavailable. Retried at the end. */
  const unsettled: Slice[] = [];
  const settling: Promise<void>[] = [];
  let passedMs = 0;
  let reservedMs = 0;
  let last: AttemptId | null = null;
  let reserving: Promise<void> | null = null;
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
    openSlices.push({ attemptId: reservation.attemptId, fromMs: reservedMs, count });
    reservedMs += SLICE_MS;
  }

  /** Reserves one slice at a time. A failure ahead of time is retried when the slice is due. */
  function reserve(): Promise<void> {
    reserving ??= reserveNext().finally(() => {
      reserving = null;
    });
    return reserving;
  }

  const sentMs = ({ fromMs }: Slice): number => Math.max(0, Math.min(SLICE_MS, passedMs - fromMs));

  async function settle(
    slice: Slice,
    outcome: AttemptOutcome,
    transcript?: ProviderTranscript,
    unused: UnusedAnswer = {},
  ): Promise<void> {
    const audioMs = sentMs(slice);
    const isCharged = outcome === "succeeded" || outcome === "aborted";
    const billing = quoteFor(services, payer, candidate.target, { audioMs, channels: 1 });
    await services.ledger.settle({
      ...unchargedSettlement(slice.attemptId, outcome, unused),
      audioMs,
      ...(isCharged ? { billableAudioMs: billing.billableMs, chargeNanoUsd: billing.chargeNanoUsd } : {}),
      ...(transcript === undefined
        ? {}
        : { providerRequestId: transcript.providerRequestId, receipts: transcript.receipts }),
    });
  }

  /** After the end nothing more is sent, and a further reservation would never be settled. */
  const needsMore = (totalMs: number): boolean => !isOver && totalMs > reservedMs;
  const settleSent = (slice: Slice): Promise<void> =>
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
      while (openSlices[0] !== undefined && openSlices[0].fromMs + SLICE_MS <= passedMs) {
        const done = openSlices.shift();
        if (done !== undefined) settling.push(settleSent(done));
      }
      if (reservedMs - passedMs < SLICE_MS / 2) reserve().catch(() => undefined);
    },
    end: async (outcome, transcript, unused) => {
      isOver = true;
      await reserving?.catch(() => undefined);
      for (const slice of openSlices) slice.count(sentMs(slice) / 1000);
      await Promise.all([
        ...settling,
        ...openSlices.splice(0).map((slice) => settle(slice, outcome, transcript, unused)),
      ]);
      await Promise.all(unsettled.splice(0).map((slice) => settle(slice, "succeeded")));
    },
  };
}
