// `patchbay doctor` and DNS: whether the names of the configured providers lead anywhere. Asked for addresses, and nothing else.
import type { Configuration } from "../config/configuration.ts";
import { isAddress, isLoopbackHost } from "../lib/loopback-host.ts";
import { configuredAccounts } from "./check-network.ts";
import type { DoctorNetwork } from "./doctor-network.ts";
import { fail, type Finding, ok, reasonOf } from "./finding.ts";

/** As long as a name server's first silence lasts, and so for all names at once. */
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
  if (connectionsOf.size === 0) return [ok("dns", "no provider's name has to be looked up")];
  return Promise.all([...connectionsOf].map(([host, connections]) => checkName(host, connections.join(", "), lookUp)));
}

async function checkName(host: string, connections: string, lookUp: DoctorNetwork["lookUp"]): Promise<Finding> {
  try {
    const addresses = await within(LOOK_UP_MS, lookUp(host));
    const count = addresses.length === 1 ? "1 address" : `${addresses.length} addresses`;
    return ok("dns", `${host} has ${count} (${connections})`);
  } catch (error) {
    return fail(
      "dns",
      `${host} is not resolved: ${reasonOf(error)} (${connections})`,
      "check base_url for a misspelt name, and this machine's name servers (/etc/resolv.conf)",
    );
  }
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
