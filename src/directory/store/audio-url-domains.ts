// Stores the allowlists for `audio.url`: the shared one and each workspace's own [remote-audio.listed-host].
import { type Kysely, sql } from "kysely";
import type { KeyId, WorkspaceId } from "../../contract/ids.ts";
import { writeAudit } from "../../storage/audit-log.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

const PLATFORM = "platform";

export interface AudioUrlDomains {
  readonly own: readonly string[];
  readonly platform: readonly string[];
  /** Null: the workspace never had a list. */
  readonly updatedAt: Date | null;
}

export async function readAudioUrlDomains(
  db: Pick<Kysely<Tables>, "selectFrom">,
  workspaceId: WorkspaceId,
): Promise<AudioUrlDomains> {
  const rows = await db
    .selectFrom("audio_url_domains")
    .selectAll()
    .where("scope", "in", [PLATFORM, workspaceId])
    .execute();
  const own = rows.find(({ scope }) => scope === workspaceId);
  const platform = rows.find(({ scope }) => scope === PLATFORM);
  return { own: own?.domains ?? [], platform: platform?.domains ?? [], updatedAt: own?.updated_at ?? null };
}

/** Replaces a workspace's list. The caller has locked the workspace for a change. An equal list is not a change. */
export async function replaceAudioUrlDomains(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  domains: readonly string[],
  actorKeyId: KeyId,
): Promise<void> {
  await replace(tx, workspaceId, domains, { workspaceId, actorKeyId });
}

/** Replaces the shared list, which only the configuration file sets. */
export async function setPlatformDomains(tx: DatabaseTransaction, domains: readonly string[]): Promise<void> {
  await replace(tx, PLATFORM, domains, { workspaceId: null, actorKeyId: null });
}

/** Creates a workspace's first list from the configuration file. Afterwards the workspace manages it [configuration.audio-domains-seed]. */
export async function seedAudioUrlDomains(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  domains: readonly string[],
): Promise<void> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("audio_url_domains")
    .values({ scope: workspaceId, domains: [...domains] })
    .onConflict((conflict) => conflict.column("scope").doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 1n) await audit(tx, { workspaceId, actorKeyId: null }, workspaceId, null, domains);
}

interface Actor {
  readonly workspaceId: WorkspaceId | null;
  readonly actorKeyId: KeyId | null;
}

async function replace(
  tx: DatabaseTransaction,
  scope: string,
  domains: readonly string[],
  actor: Actor,
): Promise<void> {
  const row = await tx.selectFrom("audio_url_domains").select("domains").where("scope", "=", scope).executeTakeFirst();
  const before = row?.domains ?? null;
  if (before !== null && before.length === domains.length && before.every((domain, at) => domain === domains[at]))
    return;
  await tx
    .insertInto("audio_url_domains")
    .values({ scope, domains: [...domains] })
    .onConflict((conflict) =>
      conflict.column("scope").doUpdateSet({ domains: [...domains], updated_at: sql`patchbay_now()` }),
    )
    .execute();
  await audit(tx, actor, scope, before, domains);
}

async function audit(
  tx: DatabaseTransaction,
  actor: Actor,
  scope: string,
  before: readonly string[] | null,
  after: readonly string[],
): Promise<void> {
  await writeAudit(tx, {
    ...actor,
    action: "audio_url_domains.replaced",
    object: scope,
    before: before === null ? null : { domains: before },
    after: { domains: after },
  });
}
