// Lists the values of `model` that a key can use on the compatible endpoints: `auto` and its published, enabled purposes. Pure [compatible.models-list].
import type { Principal } from "../../auth/principal.ts";
import type { ListedModel } from "../../contract/chat/openai-compatible.ts";
import { describeKey } from "../../gateway/account/describe-key.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { modelOfPurpose } from "./model-purpose.ts";

export function listedModels(gateway: Pick<GatewayServices, "directory">, principal: Principal): ListedModel[] {
  const { workspace, app, key } = principal;
  const routing = app === null ? null : gateway.directory().contextOf(workspace.id, app, key.routing);
  const { purposes } = describeKey(principal, routing);
  const labels = purposes.flatMap(({ purpose, is_enabled }) => (is_enabled ? [modelOfPurpose(purpose)] : []));
  const created = Math.floor(key.createdAt.getTime() / 1000);
  return ["auto", ...labels].map((id) => ({ id, object: "model", created, owned_by: "patchbay" }));
}
