// Reads and replaces a workspace's allowlist for `audio.url` [remote-audio.list-replace], with at most the configured number of domains. The caller has been
// authorized before.
import type { AudioUrlDomainsView } from "../contract/admin/audio-url-domains.ts";
import type { KeyId, WorkspaceId } from "../contract/ids.ts";
import { invalidRequests, type Issue } from "../contract/invalid-request.ts";
import { hostNameFault, spelledAsHostName } from "../lib/text/host-name.ts";
import { readAudioUrlDomains, replaceAudioUrlDomains } from "../directory/store/audio-url-domains.ts";
import type { Database } from "../storage/database.ts";
import { lockWorkspace } from "../storage/lock-workspace.ts";
import { allowMatch, type Precondition } from "./precondition.ts";

export interface AudioUrlDomainsServices {
  readonly database: Pick<Database, "inWorkspace">;
  readonly maxDomains: number;
}

export interface DomainsChange {
  readonly workspaceId: WorkspaceId;
  readonly actor: KeyId;
  readonly precondition: Precondition;
  readonly domains: readonly string[];
}

export async function describeDomains(
  { database, maxDomains }: AudioUrlDomainsServices,
  workspaceId: WorkspaceId,
): Promise<AudioUrlDomainsView> {
  return view(await database.inWorkspace(workspaceId, (tx) => readAudioUrlDomains(tx, workspaceId)), maxDomains);
}

export async function replaceDomains(
  { database, maxDomains }: AudioUrlDomainsServices,
  { workspaceId, actor, precondition, domains }: DomainsChange,
): Promise<AudioUrlDomainsView> {
  const validDomains = validateDomains(domains, maxDomains);
  return database.inWorkspace(workspaceId, async (tx) => {
    // Serialises concurrent replacements, so that the second sees the first one's list.
    await lockWorkspace(tx, workspaceId, "change");
    allowMatch(precondition, view(await readAudioUrlDomains(tx, workspaceId), maxDomains));
    await replaceAudioUrlDomains(tx, workspaceId, validDomains, actor);
    return view(await readAudioUrlDomains(tx, workspaceId), maxDomains);
  });
}

/** Returns the domains in lower case, without duplicates and in order, or throws all faults together. */
function validateDomains(domains: readonly string[], maxDomains: number): readonly string[] {
  const spellings = domains.map(spelledAsHostName);
  const issues = spellings.flatMap((domain, at): Issue[] => {
    const fault = hostNameFault(domain);
    return fault === null ? [] : [{ param: `domains[${at}]`, message: `domains[${at}] ${fault}.` }];
  });
  const distinct = [...new Set(spellings)];
  if (distinct.length > maxDomains)
    issues.push({
      param: "domains",
      message: `domains contains ${distinct.length} names; at most ${maxDomains} are allowed.`,
    });
  if (issues.length === 0) return distinct;
  throw invalidRequests(issues, { max_audio_url_domains: maxDomains });
}

function view(stored: Awaited<ReturnType<typeof readAudioUrlDomains>>, maxDomains: number): AudioUrlDomainsView {
  return {
    object: "audio_url_domains",
    domains: [...stored.own],
    global_domains: [...stored.platform],
    max_domains: maxDomains,
    updated_at: stored.updatedAt?.toISOString() ?? null,
  };
}
