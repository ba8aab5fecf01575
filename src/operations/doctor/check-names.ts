// `patchbay doctor`, checks of DNS: whether the host names of the configured providers resolve. It looks up addresses only.
import type { Configuration } from "../../config/configuration.ts";
import { isAddress, isLoopbackHost } from "../../lib/loopback-host.ts";
import { configuredAccounts } from "./check-network.ts";
import type { DoctorNetwork } from "./doctor-network.ts";
import { fail, type Finding, ok, reasonOf } from "./finding.ts";

/** A resolver's first timeout. It covers all names together, because they are looked up concurrently. */
const LOOK_UP_MS = 5_000;

export async function checkNames(
  configuration: Configuration,
  { lookUp }: Pick<DoctorNetwork, "lookUp">,
): Promise<readonly Finding[]> {
  const connectionsOf = new Map<string, string[]>();
  for (const { name, url } of configuredAccounts(configuration)) {
    if (url === null || isLoopbackHost(url.hostname) || isAddress(url.hostname)) continue;
    connectionsOf.set(url.hostname, [...(connectionsOf.get(url.hostname) ?? []), name]);
  }
  if (connectionsOf.size === 0) return [ok("dns", "no provider host needs to be resolved")];
  return Promise.all([...connectionsOf].map(([host, connections]) => checkName(host, connections.join(", "), lookUp)));
}

async function checkName(host: string, connections: string, lookUp: DoctorNetwork["lookUp"]): Promise<Finding> {
  try {
    const addresses = await withTimeout(LOOK_UP_MS, lookUp(host));
    const count = addresses.length === 1 ? "1 address" : `${addresses.length} addresses`;
    return ok("dns", `${host} has ${count} (${connections})`);
  } catch (error) {
    return fail(
      "dns",
      `${host} cannot be resolved: ${reasonOf(error)} (${connections})`,
      "check base_url for a misspelt name, and this machine's name servers (/etc/resolv.conf)",
    );
  }
}

async function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
