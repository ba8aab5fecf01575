// Signed checkpoints of the audit log [tenancy.audit-checkpoint]: the heads of all chains at one moment, in the object store outside the database. A
// rewritten or truncated log is detected even if all hashes in the database were recomputed.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { singleChunk } from "../../lib/buffered-body.ts";
import { type ChainHead, readHeads } from "../store/audit-chain.ts";
import type { Database, systemAccess } from "../../storage/database.ts";
import type { Seal } from "../../storage/secrets/seal.ts";
import { bypassRls } from "../../storage/system.ts";

/** The part of the object store that is needed. */
export interface CheckpointStore {
  put(key: string, body: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void>;
  /** Null: there is no such object. */
  read(key: string): Promise<Buffer | null>;
}

export interface CheckpointServices {
  readonly database: Pick<Database, typeof systemAccess>;
  readonly seal: Pick<Seal, "sign" | "isSigned">;
  readonly store: CheckpointStore;
  readonly now: () => Date;
}

export interface Checkpoint {
  readonly at: string;
  readonly heads: readonly ChainHead[];
}

export type ReadCheckpoint =
  | { readonly kind: "none" }
  | { readonly kind: "good"; readonly checkpoint: Checkpoint }
  | { readonly kind: "bad"; readonly why: string };

const PURPOSE = "audit-checkpoint";
const LATEST = "audit/latest";

const stored = z.object({ body: z.string(), signature: z.string() });
const storedBody = z.object({
  at: z.string(),
  /** The signature of the previous checkpoint, so that none can be removed from the sequence unnoticed. */
  previous: z.string().nullable(),
  heads: z.array(z.tuple([z.string(), z.string().regex(/^\d+$/), z.string()])),
});

/** Writes a checkpoint if a chain has grown since the last one. Returns whether it did. */
export async function writeCheckpoint(services: CheckpointServices): Promise<boolean> {
  const { database, seal, store, now } = services;
  // Read before the heads, so that a checkpoint that another process writes meanwhile is not ahead of them.
  const latest = await openLatest(services);
  const heads = await readHeads(bypassRls(database, "operator").db);
  // An invalid checkpoint is evidence, so it is kept until an operator has examined it.
  if (latest.kind === "bad") throw new Error(`the audit log does not match its last checkpoint: ${latest.why}`);
  if (latest.kind === "good" && !hasGrown(heads, latest.checkpoint.heads) && isSignedByCurrent(seal, latest))
    return false;
  const body = JSON.stringify({
    at: now().toISOString(),
    previous: latest.kind === "good" ? latest.signature : null,
    heads: heads.map(({ chain, seq, hash }) => [chain, seq.toString(), hash]),
  });
  const signature = seal.sign(Buffer.from(body), PURPOSE).toString("base64url");
  const bytes = Buffer.from(`${JSON.stringify({ body, signature })}\n`);
  const name = now().toISOString().replaceAll(/[:.]/g, "-");
  for (const key of [`audit/checkpoints/${name}_${randomUUID()}`, LATEST])
    await store.put(key, singleChunk(bytes), bytes.length);
  return true;
}

export async function readCheckpoint(services: Omit<CheckpointServices, "database" | "now">): Promise<ReadCheckpoint> {
  return openLatest(services);
}

type GoodLatest = Extract<ReadCheckpoint, { kind: "good" }> & { readonly body: string; readonly signature: string };
type Latest = Exclude<ReadCheckpoint, { kind: "good" }> | GoodLatest;

async function openLatest({ seal, store }: Omit<CheckpointServices, "database" | "now">): Promise<Latest> {
  const bytes = await store.read(LATEST);
  if (bytes === null) return { kind: "none" };
  const container = parseOrNull(stored, bytes.toString());
  if (container === null) return { kind: "bad", why: "the signed checkpoint cannot be read" };
  if (!seal.isSigned(Buffer.from(container.body), PURPOSE, Buffer.from(container.signature, "base64url")))
    return { kind: "bad", why: "the checkpoint's signature is not one of this installation's encryption keys" };
  const body = parseOrNull(storedBody, container.body);
  if (body === null) return { kind: "bad", why: "the signed checkpoint is of another version" };
  const heads = body.heads.map(([chain, seq, hash]) => ({ chain, seq: BigInt(seq), hash }));
  return { kind: "good", checkpoint: { at: body.at, heads }, body: container.body, signature: container.signature };
}

function parseOrNull<T extends z.ZodType>(schema: T, text: string): z.infer<T> | null {
  try {
    const result = schema.safeParse(JSON.parse(text));
    return result.success ? result.data : null;
  } catch {
    return null;
  }
}

/** Signs again after a key rotation, so that the old key can be removed from the ring once nothing needs it. */
function isSignedByCurrent(seal: CheckpointServices["seal"], { body, signature }: GoodLatest): boolean {
  return seal.sign(Buffer.from(body), PURPOSE).toString("base64url") === signature;
}

/** A chain shorter than its checkpoint is an error: `verify` reports it, and no new checkpoint must hide it. */
function hasGrown(heads: readonly ChainHead[], previousHeads: readonly ChainHead[]): boolean {
  const now = new Map(heads.map((head) => [head.chain, head]));
  const truncated = previousHeads.filter((head) => (now.get(head.chain)?.seq ?? -1n) < head.seq);
  if (truncated.length > 0)
    throw new Error(
      `the audit log is shorter than at the last checkpoint: ${truncated.map(({ chain }) => chain).join(", ")}`,
    );
  const previousSeqs = new Map(previousHeads.map((head) => [head.chain, head.seq]));
  return heads.some((head) => head.seq !== previousSeqs.get(head.chain));
}
