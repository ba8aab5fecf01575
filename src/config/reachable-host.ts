// Converts an address to listen on, such as `0.0.0.0`, into a host that clients can connect to.

/** Formatted for a URL. */
export function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
