// GET and PUT /admin/v1/sandbox/faults: reads and replaces the faults that the sandbox provider injects.
import type { Principal } from "../../../auth/principal.ts";
import {
  getSandboxFaultsContract,
  putSandboxFaultsContract,
  sandboxFaultsRequest,
} from "../../../contract/admin/sandbox-faults.ts";
import type { Endpoint, Reply } from "../../server/endpoint.ts";
import { readFields } from "../../body/read-fields.ts";
import type { AdminEdge } from "../frame.ts";

export function sandboxFaultEndpoints({ sandbox }: AdminEdge): readonly Endpoint<Principal>[] {
  const reply = (): Reply => ({
    status: 200,
    body: { json: { object: "sandbox_faults", faults: sandbox.read() } },
  });
  return [
    { contract: getSandboxFaultsContract, handle: async () => reply() },
    {
      contract: putSandboxFaultsContract,
      handle: async ({ request }) => {
        const { faults } = await readFields(request, sandboxFaultsRequest);
        sandbox.replace(faults);
        return reply();
      },
    },
  ];
}
