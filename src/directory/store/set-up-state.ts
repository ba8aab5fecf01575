// Reads everything that the configuration file can set, for a comparison before and after `patchbay apply`. Never contains a secret
// [configuration.apply-no-secrets]: of credentials it has the last four characters
// and a part of a digest.
import { type RawBuilder, sql } from "kysely";
import type { DatabaseTransaction } from "../../storage/database.ts";

export type SetUpState = ReadonlyMap<string, StateRow>;

export interface StateRow {
  readonly kind: string;
  readonly name: string;
  readonly managed_by: string | null;
  /** A JSON object with the settings, in a fixed order. */
  readonly content: string;
}

const SLUG = sql`coalesce((select slug from workspaces where workspaces.id = scope), scope)`;

/** Each selects kind, name, managed_by, and the settings that distinguish one state from another. */
const QUERIES: readonly RawBuilder<StateRow>[] = [
  sql`select 'connection' as kind, ${SLUG} || '/' || id as name, managed_by,
    (settings || jsonb_build_object('kind', kind, 'base_url', base_url,
      'api_key', '…' || credential_last4 || ' (' || left(md5(credential), 8) || ')'))::text as content from connections`,
  sql`select 'route', ${SLUG} || '/' || id, managed_by,
    (coalesce(definition, '{}') || jsonb_build_object('version', version))::text from routes`,
  sql`select 'price', provider || '/' || model, null, definition::text from prices`,
  sql`select 'plan', id, managed_by,
    jsonb_build_object('monthly_chat_tokens', monthly_chat_tokens, 'credits_usd', credits_nano_usd::text)::text from plans`,
  sql`select 'workspace', slug, managed_by, jsonb_build_object('plan', plan)::text from workspaces`,
  sql`select 'app', w.slug || '/' || a.slug, a.managed_by, (a.settings || jsonb_build_object('name', a.name))::text
    from apps a join workspaces w on w.id = a.workspace_id`,
  sql`select 'key', w.slug || '/' || k.name || ' …' || k.last4, k.managed_by,
    (k.settings || jsonb_build_object('role', k.role, 'scopes', k.scopes, 'expires_at', k.expires_at))::text
    from api_keys k join workspaces w on w.id = k.workspace_id where k.revoked_at is null`,
  sql`select 'budget', w.slug || '/' || coalesce(a.slug || '/', '') || b.kind || '/' || b.period, b.managed_by,
    jsonb_build_object('limit_usd', b.limit_nano_usd::text, 'limit_audio_seconds', b.limit_audio_seconds,
      'limit_tokens', b.limit_tokens, 'soft_limit', b.soft_limit)::text
    from budgets b join workspaces w on w.id = b.workspace_id left join apps a on a.id = b.app_id`,
  sql`select 'audio_url_domains', ${SLUG}, null, jsonb_build_object('domains', domains)::text from audio_url_domains`,
];

export async function readSetUpState(tx: DatabaseTransaction): Promise<SetUpState> {
  const { rows } = await sql<StateRow>`${sql.join(QUERIES, sql` union all `)}`.execute(tx);
  return new Map(rows.map((row) => [`${row.kind} ${row.name}`, row]));
}
