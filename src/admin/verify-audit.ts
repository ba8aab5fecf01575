// `patchbay audit verify` and GET /admin/v1/audit/verification [tenancy.audit-tampering]: walks each chain of the audit log from its first
// row to its head, and compares it with the last signed checkpoint, which is stored outside the database.
import type { AuditFinding, AuditFindingKind, AuditVerification } from "../contract/audit.ts";
import type { Database } from "../storage/database.ts";
import {
  type ChainHead,
  type ChainLink,
  PLATFORM_CHAIN,
  readChains,
  readHeads,
  readLinks,
} from "../storage/audit-chain.ts";
import type { ReadCheckpoint } from "./audit-checkpoint.ts";
import { operatorsSight } from "../storage/system.ts";

export interface VerifyAudit {
  /** A workspace's id or `platform`; null: all. */
  readonly chain: string | null;
  readonly checkpoint: ReadCheckpoint;
}

/** Enough to see what happened; a log that was replaced would fill pages. */
const MAX_FINDINGS = 100;
const BATCH = 1_000;

export async function verifyAudit(
  database: Pick<Database, "db">,
  { chain: only, checkpoint }: VerifyAudit,
): Promise<AuditVerification> {
  const { db } = operatorsSight(database);
  const findings: AuditFinding[] = [];
  const add = (finding: AuditFinding): void => {
    if (findings.length < MAX_FINDINGS) findings.push(finding);
  };
  if (checkpoint.kind === "bad") add(found("checkpoint", PLATFORM_CHAIN, null, checkpoint.why));
  const sealed = checkpoint.kind === "good" ? checkpoint.checkpoint : null;
  const marks = new Map((sealed?.heads ?? []).map((head) => [head.chain, head]));
  const chains = only === null ? [...new Set([...(await readChains(db)), ...marks.keys()])].toSorted() : [only];
  let entries = 0;
  for (const chain of chains) {
    // Read before the rows: what is added meanwhile lies behind it, and its links are checked all the same.
    const head = (await readHeads(db, chain))[0] ?? null;
    entries += await walk(db, { chain, head, mark: marks.get(chain) ?? null }, add);
  }
  return {
    object: "audit_verification",
    ok: findings.length === 0,
    chains: chains.length,
    entries,
    checkpoint_at: sealed?.at ?? null,
    findings,
  };
}

/**
 * The chain of a workspace by slug or id; a removed one has nothing but its chain left, and where that was cut off too, its mark in the
 * checkpoint. Null: there never was one, and a misspelt name must not pass for a log that is whole.
 */
export async function chainOf(
  database: Pick<Database, "db">,
  workspace: string,
  checkpoint: ReadCheckpoint,
): Promise<string | null> {
  if (workspace === PLATFORM_CHAIN) return workspace;
  const { db } = operatorsSight(database);
  const row = await db
    .selectFrom("workspaces")
    .select("id")
    .where((where) => where.or([where("slug", "=", workspace), where("id", "=", workspace)]))
    .executeTakeFirst();
  if (row !== undefined) return row.id;
  const marks = checkpoint.kind === "good" ? checkpoint.checkpoint.heads.map(({ chain }) => chain) : [];
  return [...(await readChains(db)), ...marks].includes(workspace) ? workspace : null;
}

interface Walk {
  readonly chain: string;
  readonly head: ChainHead | null;
  readonly mark: ChainHead | null;
}

/** Answers how many rows there are. */
async function walk(
  db: Database["db"],
  { chain, head, mark }: Walk,
  add: (finding: AuditFinding) => void,
): Promise<number> {
  let last: ChainLink | null = null;
  let atHead: ChainLink | null = null;
  let atMark: ChainLink | null = null;
  let count = 0;
  for (;;) {
    const links: readonly ChainLink[] = await readLinks(db, chain, last, BATCH);
    for (const link of links) {
      for (const finding of judgeLink(link, last)) add(finding);
      if (link.seq === head?.seq) atHead = link;
      if (link.seq === mark?.seq) atMark ??= link;
      last = link;
      count += 1;
    }
    if (links.length < BATCH) break;
  }
  if (head === null) {
    if (last !== null) add(found("head", chain, last.seq, "the chain's head is gone"));
  } else if (head.seq > 0n && atHead === null) {
    add(
      found("removed", chain, head.seq, `the chain ends at entry ${last?.seq ?? 0n}, its head names entry ${head.seq}`),
    );
  } else if (atHead !== null && atHead.hash !== head.hash) {
    add(found("head", chain, head.seq, "the chain's head names another hash than its last entry has"));
  }
  // Rows and head are written together: a head that is read after the rows is not behind any of them.
  const end = (await readHeads(db, chain))[0] ?? null;
  if (end !== null && last !== null && last.seq > end.seq)
    add(found("inserted", chain, last.seq, `the chain's head names entry ${end.seq}, there are entries behind it`));
  if (mark !== null && atMark === null) {
    const where = `the signed checkpoint saw entry ${mark.seq}, the chain ends at entry ${last?.seq ?? 0n}`;
    add(found("removed", chain, mark.seq, where));
  } else if (mark !== null && atMark?.hash !== mark.hash) {
    add(
      found(
        "rewritten",
        chain,
        mark.seq,
        `entry ${mark.seq} is not the one that the signed checkpoint saw: it, or one before it, was written anew`,
      ),
    );
  }
  return count;
}

/** One row against itself and the one before it. */
function judgeLink(link: ChainLink, last: ChainLink | null): readonly AuditFinding[] {
  const { chain, seq } = link;
  const findings: AuditFinding[] = [];
  const expected = (last?.seq ?? 0n) + 1n;
  const say = (kind: AuditFindingKind, message: string): void =>
    void findings.push(found(kind, chain, seq, message, link.id));
  if (link.computed !== link.hash) say("edited", `entry ${seq} does not have the content its hash was made of`);
  if (chain !== (link.workspaceId ?? PLATFORM_CHAIN)) say("moved", `entry ${seq} belongs to another chain`);
  if (seq > expected) say("removed", `entries ${expected} to ${seq - 1n} are missing`);
  else if (seq < expected) say("inserted", `entry ${seq} is there twice, or before the first`);
  if (link.previousHash !== (last?.hash ?? ""))
    say("broken", `entry ${seq} does not follow upon the entry before it: one was changed, removed, inserted or moved`);
  return findings;
}

function found(
  kind: AuditFindingKind,
  chain: string,
  seq: bigint | null,
  message: string,
  id: string | null = null,
): AuditFinding {
  return { kind, chain, seq: seq === null ? null : Number(seq), id, message };
}
