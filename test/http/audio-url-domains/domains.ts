// Calls GET and PUT /workspace/{tenant_id}/audio-url-domains and reads what they leave behind.
import { audioUrlDomains, type AudioUrlDomainsView } from "../../../src/contract/admin/audio-url-domains.ts";
import { type Answer, send } from "../../harness/client.ts";
import type { RemoteGateway } from "../audio-url/setup.ts";

export interface DomainsClient {
  read(key: string, tenant?: string): Promise<Answer>;
  put(key: string, body: unknown, tenant?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

export function domainsClient(remote: () => RemoteGateway): DomainsClient {
  const url = (tenant: string) => `${remote().gateway.origin}/workspace/${tenant}/audio-url-domains`;
  return {
    read: (key, tenant = "acme") => send(url(tenant), { headers: { authorization: `Bearer ${key}` } }),
    put: (key, body, tenant = "acme", headers = {}) =>
      send(url(tenant), {
        method: "PUT",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  };
}

export const viewOf = (answer: Answer): AudioUrlDomainsView => audioUrlDomains.parse(answer.json);

export async function auditRows(remote: RemoteGateway) {
  return remote.gateway.database.db.selectFrom("audit_log").selectAll().orderBy("id").execute();
}
