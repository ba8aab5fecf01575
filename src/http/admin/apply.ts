// POST /admin/v1/configuration/apply: rereads and applies the configuration file of this gateway [configuration.apply-own-file].
import { applyFile } from "../../admin/apply-file.ts";
import type { Principal } from "../../auth/principal.ts";
import { applyRequest, postApplyContract } from "../../contract/admin/apply.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { readFields } from "../body/read-fields.ts";
import type { AdminEdge } from "./frame.ts";

export function postApply({ applyFile: services }: AdminEdge): Endpoint<Principal> {
  return {
    contract: postApplyContract,
    handle: async ({ request }) => {
      const { file, dry_run: dryRun } = await readFields(request, applyRequest);
      return { status: 200, body: { json: await applyFile(services, { file, dryRun }) } };
    },
  };
}
