// Checks the base URL of a workspace's own connection before it is stored [admin.connection-own-address], by the same rules of the outbound guard as every
// later call to it.
import { type Outbound, refusalOf, type RefusalReason } from "../../outbound/dial.ts";
import type { TargetPolicy } from "../../outbound/url-policy.ts";

/** Returns why the address is refused, without what its name resolves to on this network. Null: it may be called now. */
export function judgeOwnAddress(
  outbound: Pick<Outbound, "vet">,
  policy: TargetPolicy,
): (url: string) => Promise<string | null> {
  return async (url) => {
    const reason = await refusalOf(outbound, url, policy);
    return reason === null ? null : explain(reason, policy);
  };
}

function explain(reason: RefusalReason, { schemes }: TargetPolicy): string {
  switch (reason) {
    case "malformed":
      return "must be a plain https://host[:port]/path: no user name, no blanks, no escapes in the host";
    case "scheme":
      return schemes.includes("http:")
        ? "must begin with https://, or be in a private range that the operator allowed"
        : "must begin with https://";
    case "port":
      return "names a port that cannot be called";
    case "host_not_allowed":
    case "address_not_public":
      return "must resolve to public addresses only, or to a private range that the operator allowed";
  }
}
