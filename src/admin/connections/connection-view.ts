// Describes a connection for the API (of its credential only the last four characters) and for the audit log (nothing of its credential)
// [admin.connection-credential], and detects whether a replacement would change anything else.
import { inFileForm } from "../../config/print-configuration.ts";
import type { ConnectionView } from "../../contract/admin/connections.ts";
import type { DataPolicyStatement } from "../../contract/settings/data-policy.ts";
import { connectionSection, type ParsedConnection } from "../../contract/settings/connection.ts";
import { providerKind, storedConnection } from "../../directory/stored-schemas.ts";
import { isSameData } from "../../lib/json/is-same-data.ts";
import type { ConnectionRow } from "../../storage/schema/tables.ts";
import { shownManager } from "../refuse-managed.ts";

export function viewConnection(row: ConnectionRow): ConnectionView {
  const { timeout_seconds, models, region, data_policy } = connectionFacts(row);
  return {
    object: "connection",
    id: row.id,
    kind: providerKind.parse(row.kind),
    base_url: row.base_url,
    region,
    data_policy,
    has_credential: row.credential !== null,
    credential_last4: row.credential_last4,
    timeout_seconds,
    models,
    managed_by: shownManager(row.managed_by),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

interface Facts {
  readonly id: string;
  readonly kind: string;
  readonly base_url: string | null;
  readonly region: string | null;
  readonly data_policy: DataPolicyStatement | null;
  readonly timeout_seconds: number;
  readonly models: Record<string, unknown>;
}

/** The connection in the file's format, without the credential. */
export function connectionFacts({ id, kind, base_url, settings }: ConnectionRow): Facts {
  const { timeoutSeconds, models, region, dataPolicy } = storedConnection.parse(settings);
  const fileForm = inFileForm(connectionSection, { id, kind, baseUrl: base_url, timeoutSeconds, models });
  const section = fileForm as { readonly models: Record<string, unknown> };
  const timeouts = { timeout_seconds: timeoutSeconds, models: section.models };
  return { id, kind, base_url, region, data_policy: dataPolicy, ...timeouts };
}

/** Compares everything except the credential, which is not shown. */
export function isSameConnection(
  row: ConnectionRow,
  { id: _id, kind, baseUrl, apiKey: _key, ...settings }: ParsedConnection,
) {
  const replacement = connectionFacts({ ...row, kind, base_url: baseUrl, settings });
  return isSameData(connectionFacts(row), replacement);
}
