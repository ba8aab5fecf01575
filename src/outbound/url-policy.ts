// Policies for caller-supplied URLs: those of remote audio, webhook receivers and a workspace's own connections [remote-audio.shared-guard]. Plain data that
// `guard.ts` evaluates. No policy can turn the address rules off.
import { isOfOneSite } from "../lib/text/host-name.ts";

export interface TargetPolicy {
  readonly schemes: readonly ("https:" | "http:")[];
  readonly ports: readonly number[] | "any";
  /** Lower-case names, exact or with one leading `*.` for exactly one label. `any`: every host with a public address. */
  readonly hosts: readonly string[] | "any";
  /** Private ranges that the operator allows for its own servers. Metadata services stay blocked. */
  readonly privateCidrs: readonly string[];
  /** Plain HTTP is allowed only to those ranges, because the request contains a credential. */
  readonly httpStaysPrivate?: true;
}

export function audioUrlPolicy(rules: {
  readonly domains: readonly string[];
  readonly allowedPorts: readonly number[];
}): TargetPolicy {
  return { schemes: ["https:"], ports: rules.allowedPorts, hosts: rules.domains, privateCidrs: [] };
}

export function webhookPolicy(rules: {
  readonly allowHttp: boolean;
  readonly allowedPrivateCidrs: readonly string[];
}): TargetPolicy {
  return {
    schemes: rules.allowHttp ? ["https:", "http:"] : ["https:"],
    ports: "any",
    hosts: "any",
    privateCidrs: rules.allowedPrivateCidrs,
  };
}

/** For the `base_url` of a workspace's own connection. */
export function byokPolicy(rules: { readonly allowedPrivateCidrs: readonly string[] }): TargetPolicy {
  return {
    schemes: rules.allowedPrivateCidrs.length > 0 ? ["https:", "http:"] : ["https:"],
    ports: "any",
    hosts: "any",
    privateCidrs: rules.allowedPrivateCidrs,
    httpStaysPrivate: true,
  };
}

/**
 * Compares label by label: no substring, no parent, no child of an exact name. A wildcard matches exactly one label, and no host that could not be listed
 * itself: `*.amazonaws.com` does not match `s3.amazonaws.com`, below which anyone can have buckets.
 */
export function listedEntry(host: string, entries: readonly string[]): string | null {
  const afterFirstLabel = host.slice(host.indexOf(".") + 1);
  const matches = (entry: string): boolean =>
    entry.startsWith("*.") ? entry.slice(2) === afterFirstLabel && isOfOneSite(host) : entry === host;
  return entries.find(matches) ?? null;
}
