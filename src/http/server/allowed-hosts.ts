// Which host names a listener answers to. A page in an operator's browser reaches a loopback listener under a name of its own that it makes
// resolve to 127.0.0.1 (DNS rebinding); the Host header names it, and an address or a configured name is no name of such a page.
import { isIP } from "node:net";
import type { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";

/** Judges a well-formed Host header. */
export type RefuseHost = (host: string) => GatewayError | null;

/** `names`: without a port. Addresses and `localhost` are always answered; `setting` is where a name is added. */
export function allowHosts(names: readonly string[], setting: string): RefuseHost {
  const allowed = new Set(["localhost", ...names.map(plainName)]);
  return (host) => {
    const name = plainName(host.replace(/:\d*$/u, ""));
    if (allowed.has(name) || isIP(name.replace(/^\[|\]$/gu, "")) !== 0) return null;
    return invalidRequest(
      "host",
      `This listener does not answer to the host name \`${name}\`: use an address or localhost, or add the name to ${setting}.`,
    );
  };
}

/** Names are compared without case and without the dot of a fully qualified one. */
function plainName(host: string): string {
  return host.toLowerCase().replace(/\.$/u, "");
}
