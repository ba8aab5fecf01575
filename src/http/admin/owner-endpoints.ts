// Registers one handler under three paths: shared objects for the operator, and a workspace's objects for its administrators and for the operator
// [admin.mirrored].
import { PLATFORM_SCOPE, type SetUpActor } from "../../admin/set-up-scope.ts";
import type { Principal } from "../../auth/principal.ts";
import type { OwnerEndpoints } from "../../contract/endpoints/owner-endpoints.ts";
import { createFaults } from "../body/validation-issues.ts";
import { type Endpoint, type HandlerContext, principalOf, type Reply } from "../server/endpoint.ts";
import { readKept } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import type { AdminEdge, MirroredEndpoint } from "./frame.ts";

export interface EverywhereEndpoint extends MirroredEndpoint {
  readonly platform: Endpoint<Principal>;
}

export function everywhereEndpoint(
  { requireAdmin }: Pick<AdminEdge, "requireAdmin">,
  contracts: OwnerEndpoints,
  handle: (context: HandlerContext<Principal>, actor: SetUpActor) => Promise<Reply>,
): EverywhereEndpoint {
  const inWorkspace = async (context: HandlerContext<Principal>): Promise<Reply> => {
    const { workspaceId, actor: keyId } = await workspaceAdmin(requireAdmin, context);
    return handle(context, { scope: workspaceId, actor: keyId });
  };
  return {
    platform: {
      contract: contracts.platform,
      handle: (context) => handle(context, { scope: PLATFORM_SCOPE, actor: principalOf(context).key.id }),
    },
    workspace: { contract: contracts.workspace, handle: inWorkspace },
    operator: { contract: contracts.operator, handle: inWorkspace },
  };
}

/** Declared models and targets with their settings: larger than most request bodies. */
const MAX_BYTES = 262_144;

/** Reads an object unparsed, because the schema of the configuration file validates it. `named` fields are in the path and may also be in the body. */
export async function readObject(
  { request }: HandlerContext<Principal>,
  named: Readonly<Record<string, string>> = {},
): Promise<object> {
  const faults = createFaults();
  const body = await readKept(request, MAX_BYTES, faults);
  faults.throwIfAny();
  for (const [name, value] of Object.entries(named)) {
    const bodyValue: unknown = (body as Readonly<Record<string, unknown>>)[name] ?? value;
    if (bodyValue !== value) throw faults.fatal(name, `${name} must equal the value in the path.`);
  }
  return { ...(withoutNulls(body) as object), ...named };
}

/** A field sent as `null` counts as not sent. The configuration file's schema would refuse it. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const sentFields = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(sentFields.map(([name, member]) => [name, withoutNulls(member)]));
}
