// GET /v1/me: describes the key and its purposes [keys.me].
import type { Principal } from "../../auth/principal.ts";
import { getMeContract } from "../../contract/endpoints/endpoint-account.ts";
import { describeKey } from "../../gateway/account/describe-key.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";

export function getMe(gateway: Pick<GatewayServices, "directory">): Endpoint<Principal> {
  return {
    contract: getMeContract,
    handle: async (context) => {
      const principal = principalOf(context);
      const { workspace, app, key } = principal;
      const routing = app === null ? null : gateway.directory().contextOf(workspace.id, app, key.routing);
      return { status: 200, body: { json: describeKey(principal, routing) } };
    },
  };
}
