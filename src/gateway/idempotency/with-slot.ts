// Runs a request under its idempotency key: replays a stored answer, refuses a reused key, and always ends the slot as the outcome requires
// [idempotency.replay] [idempotency.reused].
import { GatewayError } from "../../contract/errors.ts";
import { keyReused } from "../../contract/idempotency-key.ts";
import type { ClaimRequest, SlotRef } from "./idempotency.ts";
import type { GatewayReply } from "../reply.ts";
import type { Recorder } from "../request-record.ts";
import type { GatewayServices } from "../services.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { databaseUnavailable, resultNotStored, mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

export interface ClaimedSlot {
  readonly ref: SlotRef;
  /**
   * Called when the first byte is sent: from then on an internal error burns the slot. A crash burns it from the reservation on, because the exact moment is
   * lost.
   */
  markDispatched(): void;
  /** An outcome is unknown: the key must never run again. */
  burn(): Promise<void>;
}

/** With a key the work continues for the caller's retry. Without one it stops when the caller hangs up. */
export function abortSignalFor(clientGone: AbortSignal, slot: ClaimedSlot | null): AbortSignal {
  // A new signal for each request, because removing a listener searches all listeners of a signal.
  return slot === null ? clientGone : new AbortController().signal;
}

/** `work` completes the slot itself, in the transaction that settles the charge. */
export function withSlot(
  services: Pick<GatewayServices, "idempotency">,
  request: ClaimRequest | null,
  recorder: Pick<Recorder, "keyUsed">,
  work: (slot: ClaimedSlot | null) => Promise<GatewayReply>,
): Promise<GatewayReply> {
  return request === null ? work(null) : runUnderKey(services, request, recorder, work);
}

async function runUnderKey(
  services: Pick<GatewayServices, "idempotency">,
  request: ClaimRequest,
  recorder: Pick<Recorder, "keyUsed">,
  work: (slot: ClaimedSlot) => Promise<GatewayReply>,
): Promise<GatewayReply> {
  const claim = await mapDatabaseUnavailable(services.idempotency.claim(request));
  recorder.keyUsed(KEY_USE[claim.kind]);
  switch (claim.kind) {
    case "replay":
      return { ...claim.reply, headers: { ...claim.reply.headers, "x-svc-idempotent-replay": "true" } };
    case "reused":
      throw keyReused();
    case "in_progress":
      throw new GatewayError("IDEMPOTENCY_REPLAY_IN_PROGRESS", {
        message:
          "The first request with this Idempotency-Key is still running. Retry after a few seconds with the same key.",
        retryAfterSeconds: 2,
      });
    case "unavailable":
      throw new GatewayError("IDEMPOTENT_RESULT_UNAVAILABLE", {
        message:
          "The first request with this Idempotency-Key ended with an unknown outcome and will not run again. Send a new key to run it again.",
      });
    case "owned":
      return runOwned(services, claim.slot, work);
  }
}

const KEY_USE = {
  owned: "first",
  replay: "replayed",
  reused: "reused",
  in_progress: "in_progress",
  unavailable: "unavailable",
} as const;

async function runOwned(
  services: Pick<GatewayServices, "idempotency">,
  ref: SlotRef,
  work: (slot: ClaimedSlot) => Promise<GatewayReply>,
): Promise<GatewayReply> {
  let dispatched = false;
  let burned = false;
  const slot: ClaimedSlot = {
    ref,
    markDispatched: () => {
      dispatched = true;
    },
    burn: async () => {
      burned = true;
      await services.idempotency.burn(ref).catch(ignoreDatabaseUnavailable);
    },
  };
  try {
    return await work(slot);
  } catch (error) {
    if (!burned) {
      await endSlot(services, ref, dispatched && !(error instanceof GatewayError)).catch(ignoreDatabaseUnavailable);
    }
    if (isDatabaseUnavailable(error)) throw dispatched ? resultNotStored(error) : databaseUnavailable(error);
    throw error;
  }
}

/** The outcome of the request is reported nevertheless: the slot's lease lapses, and what was dispatched under it never runs again. */
function ignoreDatabaseUnavailable(failure: unknown): void {
  if (!isDatabaseUnavailable(failure)) throw failure;
}

/** Definite failures free the key. An internal error after the dispatch leaves the outcome unknown and burns it. */
async function endSlot(
  services: Pick<GatewayServices, "idempotency">,
  ref: SlotRef,
  isUnknown: boolean,
): Promise<void> {
  if (isUnknown) await services.idempotency.burn(ref);
  else await services.idempotency.release(ref);
}
