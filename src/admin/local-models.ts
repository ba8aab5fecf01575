// Lists the models that run on this machine, and starts and stops pulls for the operator [local-models.admin] [local-models.admin-pull].
import type { LocalModelView } from "../contract/admin/local-models.ts";
import { GatewayError } from "../contract/errors.ts";
import { invalidRequest } from "../contract/invalid-request.ts";
import { describeModel, describeModels } from "../local-models/describe-models.ts";
import { ModelFault } from "../local-models/model-fault.ts";
import type { ModelPulls } from "../local-models/model-pulls.ts";
import type { ModelSpec } from "../local-models/model-spec.ts";
import { requireFetch, type PullParts } from "../local-models/pull-model.ts";
import { bypassRls } from "../storage/system.ts";
import { auditChange } from "./audit/audit-change.ts";
import { noSuch } from "./refusals.ts";
import type { AdminActor, AdminServices } from "./services.ts";

export interface LocalModelServices extends AdminServices, Pick<PullParts, "dir" | "fetch"> {
  readonly manifest: readonly ModelSpec[];
  readonly pulls: ModelPulls;
}

export interface LocalModelRef extends AdminActor {
  readonly name: string;
}

export function listLocalModels({ dir, manifest, pulls }: LocalModelServices): Promise<readonly LocalModelView[]> {
  return describeModels(dir, manifest, pulls.stateOf);
}

export function describeLocalModel(
  { dir, manifest, pulls }: LocalModelServices,
  name: string,
): Promise<LocalModelView> {
  return describeModel(requireSpec(manifest, name), dir, pulls.stateOf);
}

/** `licence` is what the caller accepts. */
export async function startModelPull(
  services: LocalModelServices,
  { actor, name }: LocalModelRef,
  licence: string,
): Promise<LocalModelView> {
  const { database, manifest, fetch, pulls } = services;
  const spec = requireSpec(manifest, name);
  if (licence !== spec.licence.id)
    throw invalidRequest("licence", `The licence of ${name} is ${spec.licence.id} (${spec.licence.url}): send its id.`);
  refuseIfOff(fetch);
  await bypassRls(database, "operator").transaction((tx) =>
    auditChange(
      tx,
      {
        actor,
        workspaceId: null,
        action: "local_model.pull_started",
        object: name,
        before: null,
        after: { accepted_licence: licence },
      },
      (row) => row,
    ),
  );
  pulls.start(spec);
  return describeLocalModel(services, name);
}

export async function cancelModelPull(services: LocalModelServices, name: string): Promise<LocalModelView> {
  requireSpec(services.manifest, name);
  await services.pulls.cancel(name);
  return describeLocalModel(services, name);
}

function requireSpec(manifest: readonly ModelSpec[], name: string): ModelSpec {
  const spec = manifest.find((each) => each.name === name);
  if (spec === undefined) throw noSuch("local model");
  return spec;
}

function refuseIfOff(fetch: PullParts["fetch"]): void {
  try {
    requireFetch({ fetch });
  } catch (error) {
    if (!(error instanceof ModelFault)) throw error;
    throw new GatewayError("CONFLICT", { message: error.message, details: { reason: "downloads_off" } });
  }
}
