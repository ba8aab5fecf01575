// Claims and replays the idempotency keys of synchronous requests: at most one paid execution per key, and an answer that never changes
// [idempotency.single-call] [idempotency.replay]. The ledger completes a slot in the transaction that settles the charge.
import { createHash, randomUUID } from "node:crypto";
import type { AppId, WorkspaceId } from "../../contract/ids.ts";
import type { AnswerRoom } from "../../lib/answer-room.ts";
import { freeBuffer } from "../../lib/free-buffer.ts";
import { createKeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.ts";
import type { Database, systemAccess } from "../../storage/database.ts";
import {
  burnLapsedSlot,
  burnSlots,
  insertSlot,
  openStoredBody,
  openStoredPieces,
  readSlot,
  readStoredPieces,
  releaseSlots,
  renewSlots,
  type SlotClaim,
  type SlotRef,
  type SlotRow,
  type SlotSweep,
  type StoredReply,
  sweepSlots,
} from "../../storage/idempotency-slots.ts";
import { piecesOf, ValueGone } from "../../storage/read-pieces.ts";
import { plaintextBytes, type Seal } from "../../storage/secrets/seal.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { bypassRls } from "../../storage/system.ts";
import type { GatewayReply } from "../reply.ts";
import { createUnfinishedSlots, type SlotEnding } from "./unfinished-slots.ts";

export type { SlotRef, StoredReply } from "../../storage/idempotency-slots.ts";

export interface ClaimRequest {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  /** As the caller sent it; only its hash is stored. */
  readonly key: string;
  readonly endpoint: string;
  readonly fingerprint: Buffer;
  /** Where memory for a stored answer is reserved. Absent: it is not counted. */
  readonly room?: AnswerRoom | undefined;
}

export type Claim =
  | { readonly kind: "owned"; readonly slot: SlotRef }
  | { readonly kind: "replay"; readonly reply: StoredReply & Pick<GatewayReply, "isExclusive"> }
  | { readonly kind: "reused" }
  | { readonly kind: "in_progress" }
  | { readonly kind: "unavailable" };

export interface Idempotency {
  claim(request: ClaimRequest): Promise<Claim>;
  /**
   * Frees the key: nothing was dispatched, or everything that was failed definitely. If the database is unavailable it resolves too, and the key is freed as
   * soon as the database is available again.
   */
  release(slot: SlotRef): Promise<void>;
  /** The outcome is unknown: the key never runs again. Retried in the background like `release`. */
  burn(slot: SlotRef): Promise<void>;
  /** Renews the leases of all slots held by this process; called by the timer. Slots that were lost are forgotten. */
  renew(): Promise<void>;
  sweep(stopping?: AbortSignal): Promise<SlotSweep>;
  close(): void;
}

export interface IdempotencyOptions {
  readonly database: Pick<Database, typeof systemAccess>;
  readonly seal: Seal;
  /** `sync_idempotency_ttl_seconds`. */
  readonly ttlSeconds: number;
  readonly renewEveryMs?: number;
  /** A renewal failed. The next one may succeed before the lease lapses. */
  readonly onRenewalError?: (error: unknown) => void;
}

/** A third of the lease: two renewals may fail before it lapses. */
const RENEW_EVERY_MS = 10_000;

/** Concurrent reads of large stored answers. */
const MOST_LARGE_READS = { total: 4, perKind: 4, perOwner: 2 };

export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const { seal, ttlSeconds } = options;
  const { db } = bypassRls(options.database, "claim");
  const heldSlots = new Map<string, SlotRef>();
  const largeReads = createKeyedSemaphore(MOST_LARGE_READS);
  const unfinished = createUnfinishedSlots(db);
  const end = async (slot: SlotRef, ending: SlotEnding): Promise<void> => {
    heldSlots.delete(slot.owner);
    try {
      await (ending === "burn" ? burnSlots(db, [slot]) : releaseSlots(db, [slot]));
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      unfinished.add(slot, ending);
    }
  };

  const renew = async (): Promise<void> => {
    const slots = [...heldSlots.values()];
    const stillHeld = await renewSlots(db, slots);
    // Completed, burned, released or taken over: no lease to renew.
    for (const { owner } of slots) if (!stillHeld.has(owner)) heldSlots.delete(owner);
  };
  const timer = setInterval(() => {
    renew().catch((error: unknown) => options.onRenewalError?.(error));
  }, options.renewEveryMs ?? RENEW_EVERY_MS);
  timer.unref();

  /** An insert with a lost result may have been committed. It is released, so that its key need not wait for the lease to lapse. */
  const insert = (attempt: SlotClaim): Promise<boolean> =>
    insertSlot(db, attempt).catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) unfinished.add(attempt.ref, "release");
      throw error;
    });

  const readLarge = (request: ClaimRequest, ref: SlotRef, { bodyBegin, bodyBytes }: SealedBody): Promise<Buffer> => {
    const { room, workspaceId } = request;
    const signal = room?.signal ?? new AbortController().signal;
    return largeReads.run(
      "answers",
      signal,
      async () => {
        const plainBytes = plaintextBytes(bodyBegin, bodyBytes);
        room?.reserve(plainBytes);
        const body = Buffer.allocUnsafeSlow(plainBytes);
        const sealed = piecesOf(bodyBytes, (range) => readStoredPieces(db, ref, range));
        let at = 0;
        for await (const piece of openStoredPieces(seal, ref, sealed)) {
          at += piece.copy(body, at);
          freeBuffer(piece);
        }
        return body;
      },
      workspaceId,
    );
  };

  const claim = async (request: ClaimRequest): Promise<Claim> => {
    const { workspaceId, appId, key, endpoint, fingerprint } = request;
    const keySha256 = createHash("sha256").update(key).digest();
    const attempt: SlotClaim = {
      ref: { workspaceId, appId, keySha256, owner: randomUUID() },
      endpoint,
      fingerprint,
      ttlSeconds,
    };
    await unfinished.finish(attempt.ref);
    // A slot may be released between losing the insert and reading it: then the key is free again, so try again.
    for (let tries = 0; tries < 5; tries += 1) {
      if (await insert(attempt)) {
        heldSlots.set(attempt.ref.owner, attempt.ref);
        return { kind: "owned", slot: attempt.ref };
      }
      const row = await readSlot(db, attempt);
      if (row === null) continue;
      if (row.sameRequest && row.state === "dispatched" && row.lapsed) {
        await burnLapsedSlot(db, attempt.ref);
        continue;
      }
      const outcome = await judge(seal, attempt.ref, row, (sealed) => readLarge(request, attempt.ref, sealed));
      if (outcome !== null) return outcome;
    }
    return { kind: "in_progress" };
  };

  return {
    claim,
    release: (slot) => end(slot, "release"),
    burn: (slot) => end(slot, "burn"),
    renew,
    sweep: (stopping) => sweepSlots(db, stopping),
    close: () => {
      clearInterval(timer);
      unfinished.close();
    },
  };
}

type SealedBody = Pick<Extract<SlotRow, { state: "completed" }>, "bodyBegin" | "bodyBytes">;

/** A mismatch is checked first, because a caller must not wait for the answer of another request. Null: the slot was just deleted. */
async function judge(
  seal: Seal,
  ref: SlotRef,
  row: SlotRow,
  readLarge: (sealed: SealedBody) => Promise<Buffer>,
): Promise<Claim | null> {
  if (!row.sameRequest) return { kind: "reused" };
  switch (row.state) {
    case "reserved":
    case "dispatched":
      return { kind: "in_progress" };
    case "burned":
      return { kind: "unavailable" };
    case "completed": {
      const { status, headers, body } = row;
      try {
        if (body !== null) return { kind: "replay", reply: { status, headers, body: openStoredBody(seal, ref, body) } };
        return { kind: "replay", reply: { status, headers, body: await readLarge(row), isExclusive: true } };
      } catch (error) {
        if (error instanceof ValueGone) return null;
        throw error;
      }
    }
  }
}
