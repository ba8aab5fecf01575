// What a target that a caller names may look like: remote audio's rules and those of webhook receivers [remote-audio.shared-guard]. Plain
// data; `guard.ts` judges by it. Every policy has the address rules, which no field of it turns off.
import { isOfOneSite } from "../lib/text/host-name.ts";

export interface TargetPolicy {
  readonly schemes: readonly ("https:" | "http:")[];
  readonly ports: readonly number[] | "any";
  /** Lower-case names, exact or with one leading `*.` that stands for one label. `any`: whoever has a public address. */
  readonly hosts: readonly string[] | "any";
  /** Private ranges the operator opens to servers of its own; metadata services stay shut. */
  readonly privateCidrs: readonly string[];
  /** Plain http goes to those ranges alone: what is sent holds a credential. */
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

/** The `base_url` of a workspace's own connection. */
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
 * Label by label: no substring, no parent, no child of an exact name, and a wildcard is exactly one label, which makes no suffix that
 * could not be listed itself: below `*.amazonaws.com` is `s3.amazonaws.com`, where anybody has buckets.
 */
export function listedEntry(host: string, entries: readonly string[]): string | null {
  const afterFirstLabel = host.slice(host.indexOf(".") + 1);
  const stands = (entry: string): boolean =>
    entry.startsWith("*.") ? entry.slice(2) === afterFirstLabel && isOfOneSite(host) : entry === host;
  return entries.find(stands) ?? null;
}
