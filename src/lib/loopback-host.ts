// Detects hosts that mean this machine: loopback addresses and localhost names.

/** Expects the `hostname` of a URL, where every spelling of an IPv4 address is normalised to dotted decimals. */
export function isAddress(hostname: string): boolean {
  return hostname.startsWith("[") || /(^|\.)\d+$/u.test(hostname);
}

export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/gu, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(\.\d{1,3}){3}$/u.test(name);
}
