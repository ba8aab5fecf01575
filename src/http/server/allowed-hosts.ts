// Refuses host names that a listener does not answer to, against DNS rebinding: a web page in an operator's browser can reach a loopback listener
// under the page's own name, which the Host header then contains. IP addresses and configured names cannot belong to such a page.
import { isIP } from "node:net";
import type { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";

/** Validates a well-formed Host header. Null: allowed. */
export type RefuseHost = (host: string) => GatewayError | null;

/** `names` have no port. Addresses and `localhost` are always allowed; `setting` names the setting to which a name can be added. */
export function allowHosts(names: readonly string[], setting: string): RefuseHost {
  const allowedNames = new Set(["localhost", ...names.map(plainName)]);
  return (host) => {
    const name = plainName(host.replace(/:\d*$/u, ""));
    if (allowedNames.has(name) || isIP(name.replace(/^\[|\]$/gu, "")) !== 0) return null;
    return invalidRequest(
      "host",
      `This listener does not accept the host name \`${name}\`: use an address or localhost, or add the name to ${setting}.`,
    );
  };
}

/** Host names are compared without case and without the final dot of a fully qualified name. */
function plainName(host: string): string {
  return host.toLowerCase().replace(/\.$/u, "");
}
