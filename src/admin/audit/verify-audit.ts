// Verifies the audit log for `patchbay audit verify` and GET /admin/v1/audit/verification [tenancy.audit-tampering]: walks each chain from its first row to
// its head, and compares it with the last signed checkpoint outside the database.
import type { AuditFinding, AuditFindingKind, AuditVerification } from "../../contract/admin/audit.ts";
import { findWorkspaceId } from "../../auth/store/tenants.ts";
import type { Database, SystemHandle, systemAccess } from "../../storage/database.ts";
import {
  type ChainHead,
  type ChainLink,
  PLATFORM_CHAIN,
  readChains,
  readHeads,
  readLinks,
} from "../store/audit-chain.ts";
import type { ReadCheckpoint } from "./audit-checkpoint.ts";
import { bypassRls } from "../../storage/system.ts";

export interface VerifyAudit {
  /** A workspace's id or `platform`. Null: all chains. */
  readonly chain: string | null;
  readonly checkpoint: ReadCheckpoint;
}

/** Enough to see what happened. A replaced log would otherwise fill pages. */
const MAX_FINDINGS = 100;
const BATCH = 1_000;

export async function verifyAudit(
  database: Pick<Database, typeof systemAccess>,
  { chain: onlyChain, checkpoint }: VerifyAudit,
): Promise<AuditVerification> {
  const { db } = bypassRls(database, "operator");
  const findings: AuditFinding[] = [];
  const add = (finding: AuditFinding): void => {
    if (findings.length < MAX_FINDINGS) findings.push(finding);
  };
  if (checkpoint.kind === "bad") add(createFinding("checkpoint", PLATFORM_CHAIN, null, checkpoint.why));
  const lastCheckpoint = checkpoint.kind === "good" ? checkpoint.checkpoint : null;
  const marks = new Map((lastCheckpoint?.heads ?? []).map((head) => [head.chain, head]));
  const chains =
    onlyChain === null ? [...new Set([...(await readChains(db)), ...marks.keys()])].toSorted() : [onlyChain];
  let entries = 0;
  for (const chain of chains) {
    // Read before the rows: entries added meanwhile follow it, and their links are checked too.
    const head = (await readHeads(db, chain))[0] ?? null;
    entries += await walkChain(db, { chain, head, mark: marks.get(chain) ?? null }, add);
  }
  return {
    object: "audit_verification",
    ok: findings.length === 0,
    chains: chains.length,
    entries,
    checkpoint_at: lastCheckpoint?.at ?? null,
    findings,
  };
}

/**
 * Returns the chain of a workspace by slug or id. Of a deleted workspace only its chain is left or, if that was removed too, its mark in the checkpoint.
 * Null: it never existed, because a misspelt name must not pass for an intact log.
 */
export async function chainOf(
  database: Pick<Database, typeof systemAccess>,
  workspace: string,
  checkpoint: ReadCheckpoint,
): Promise<string | null> {
  if (workspace === PLATFORM_CHAIN) return workspace;
  const { db } = bypassRls(database, "operator");
  const id = await findWorkspaceId(db, workspace);
  if (id !== null) return id;
  const marks = checkpoint.kind === "good" ? checkpoint.checkpoint.heads.map(({ chain }) => chain) : [];
  return [...(await readChains(db)), ...marks].includes(workspace) ? workspace : null;
}

interface Walk {
  readonly chain: string;
  readonly head: ChainHead | null;
  readonly mark: ChainHead | null;
}

/** Returns the number of rows. */
async function walkChain(
  db: SystemHandle,
  { chain, head, mark }: Walk,
  add: (finding: AuditFinding) => void,
): Promise<number> {
  let lastLink: ChainLink | null = null;
  let atHead: ChainLink | null = null;
  let atMark: ChainLink | null = null;
  let count = 0;
  for (;;) {
    const links: readonly ChainLink[] = await readLinks(db, chain, lastLink, BATCH);
    for (const link of links) {
      for (const finding of judgeLink(link, lastLink)) add(finding);
      if (link.seq === head?.seq) atHead = link;
      if (link.seq === mark?.seq) atMark ??= link;
      lastLink = link;
      count += 1;
    }
    if (links.length < BATCH) break;
  }
  if (head === null) {
    if (lastLink !== null) add(createFinding("head", chain, lastLink.seq, "the chain's head is missing"));
  } else if (head.seq > 0n && atHead === null) {
    add(
      createFinding(
        "removed",
        chain,
        head.seq,
        `the chain ends at entry ${lastLink?.seq ?? 0n}, its head refers to entry ${head.seq}`,
      ),
    );
  } else if (atHead !== null && atHead.hash !== head.hash) {
    add(createFinding("head", chain, head.seq, "the chain's head contains a different hash than its last entry"));
  }
  // Rows and head are written together, so a head that is read after the rows is not behind any of them.
  const end = (await readHeads(db, chain))[0] ?? null;
  if (end !== null && lastLink !== null && lastLink.seq > end.seq)
    add(
      createFinding(
        "inserted",
        chain,
        lastLink.seq,
        `the chain's head refers to entry ${end.seq}, but later entries exist`,
      ),
    );
  if (mark !== null && atMark === null) {
    const where = `the signed checkpoint covers entry ${mark.seq}, the chain ends at entry ${lastLink?.seq ?? 0n}`;
    add(createFinding("removed", chain, mark.seq, where));
  } else if (mark !== null && atMark?.hash !== mark.hash) {
    add(
      createFinding(
        "rewritten",
        chain,
        mark.seq,
        `entry ${mark.seq} differs from the signed checkpoint: it, or an earlier one, was rewritten`,
      ),
    );
  }
  return count;
}

/** Checks one row against its own hash and the previous row. */
function judgeLink(link: ChainLink, previousLink: ChainLink | null): readonly AuditFinding[] {
  const { chain, seq } = link;
  const findings: AuditFinding[] = [];
  const expected = (previousLink?.seq ?? 0n) + 1n;
  const addFinding = (kind: AuditFindingKind, message: string): void =>
    void findings.push(createFinding(kind, chain, seq, message, link.id));
  if (link.computed !== link.hash) addFinding("edited", `entry ${seq} has content that does not match its hash`);
  if (chain !== (link.workspaceId ?? PLATFORM_CHAIN)) addFinding("moved", `entry ${seq} belongs to another chain`);
  if (seq > expected) addFinding("removed", `entries ${expected} to ${seq - 1n} are missing`);
  else if (seq < expected) addFinding("inserted", `entry ${seq} is duplicated, or precedes the first`);
  if (link.previousHash !== (previousLink?.hash ?? ""))
    addFinding(
      "broken",
      `entry ${seq} does not continue the previous entry: one was changed, removed, inserted or moved`,
    );
  return findings;
}

function createFinding(
  kind: AuditFindingKind,
  chain: string,
  seq: bigint | null,
  message: string,
  id: string | null = null,
): AuditFinding {
  return { kind, chain, seq: seq === null ? null : Number(seq), id, message };
}
