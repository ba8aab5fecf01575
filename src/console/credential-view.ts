// Shows the non-secret facts of a credential.
import type { ConnectionView } from "../contract/admin/connections.ts";
import { CONNECTION_KINDS } from "./connection-kinds.ts";
import { mark } from "./words.ts";

export function credentialView({ kind, has_credential: has, credential_last4: last }: ConnectionView): Node | string {
  if (has) return last === null ? "set" : `ends in ${last}`;
  return CONNECTION_KINDS[kind].credential?.isRequired === true ? mark("bad", "missing") : "none";
}
