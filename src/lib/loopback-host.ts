// Whether a host, as it stands in a URL or a listener's setting, is this very machine.

/** Of a URL's `hostname`, in which every spelling of an IPv4 address has become the one with dots. */
export function isAddress(hostname: string): boolean {
  return hostname.startsWith("[") || /(^|\.)\d+$/u.test(hostname);
}

export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/gu, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(\.\d{1,3}){3}$/u.test(name);
}
