// Explains how a request would be routed without running it [admin.explain], by the published version of a route and, for comparison, another version.
// Nothing is reserved, called or stored.
import type { Principal } from "../../auth/principal.ts";
import type { LimitsConfiguration } from "../../config/configuration.ts";
import { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { JudgedRequest, RouteExplanation } from "../../contract/admin/route-explanation.ts";
import { findAppPrincipal, findKeyById } from "../../directory/find-principal.ts";
import type { DirectoryScope } from "../../directory/snapshot.ts";
import { refuseTooManyKeyterms } from "../../gateway/transcription/refuse-too-many-keyterms.ts";
import {
  type AudioExplanation,
  type ChatExplanation,
  type JudgeServices,
  judgeRoute,
  type LiveExplanation,
} from "../../gateway/dry-run/explain-route.ts";
import { refuseTooLong } from "../../gateway/transcription/measure-audio.ts";
import { type DeclaredRecording, declaredFacts } from "../../gateway/transcription/unmeasured-audio.ts";
import { mapDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";
import { findApp } from "../apps.ts";
import { otherVersion, type VersionChoice } from "./other-version.ts";
import { noSuch } from "../refusals.ts";
import { type SetUpServices, workspaceOf } from "../set-up-scope.ts";

export type ExplanationServices = JudgeServices &
  Pick<SetUpServices, "database" | "refreshDirectory"> & {
    readonly limits: Pick<
      LimitsConfiguration,
      | "maxAudioDurationSeconds"
      | "maxKeyterms"
      | "maxAudioBytes"
      | "maxAudioUrlBytes"
      | "maxJobAudioBytes"
      | "maxJobAudioUrlBytes"
    >;
  };

/** The caller of the request. */
export type ExplainedCaller =
  | { readonly kind: "key"; readonly id: string }
  | { readonly kind: "app"; readonly app: string; readonly testMode: boolean };

type RequestToExplain =
  | (Omit<AudioExplanation, "principal" | "audio"> & { readonly recording: DeclaredRecording | null })
  | Omit<LiveExplanation, "principal">
  | Omit<ChatExplanation, "principal">;

export interface Explained extends VersionChoice {
  readonly caller: ExplainedCaller;
  readonly request: RequestToExplain;
}

export async function explainRequest(services: ExplanationServices, options: Explained): Promise<RouteExplanation> {
  const { scope, request } = options;
  refuseImpossible(services, request);
  // Refreshed first, because another process may have changed the set-up a moment ago.
  await mapDatabaseUnavailable(services.refreshDirectory());
  const found = await mapDatabaseUnavailable(principalOf(services, scope, options.caller));
  // An administrator sees provider names, whatever the caller may see.
  const principal: Principal = { ...found, scopes: [...found.scopes, "routing:read"] };
  const directory = services.directory();
  const live = await judge(services, principal, request, directory);
  const other = await mapDatabaseUnavailable(otherVersion(services, options, principal.workspace.id, live.trace.route));
  return {
    object: "route_explanation",
    live,
    compared: other === null ? null : { route: other.id, version: other.version, state: other.state },
    draft: other === null ? null : await judge(services, principal, request, directory.withRoute(other)),
  };
}

function judge(
  services: JudgeServices,
  principal: Principal,
  request: RequestToExplain,
  directory: ReturnType<JudgeServices["directory"]>,
): Promise<JudgedRequest> {
  const judgeServices = { ...services, directory: () => directory };
  if (request.kind !== "audio") return judgeRoute(judgeServices, { ...request, principal });
  const { recording, ...audio } = request;
  return judgeRoute(judgeServices, {
    ...audio,
    principal,
    audio: recording === null ? null : declaredFacts(recording),
  });
}

/** Refuses a request that exceeds the gateway's limits as the real endpoint would, whatever the route. */
function refuseImpossible({ limits }: ExplanationServices, request: RequestToExplain): void {
  if (request.kind === "chat") return;
  refuseTooManyKeyterms({ limits }, request.fields, "fields.");
  if (request.kind === "live" || request.recording === null) return;
  const { durationSeconds, sizeBytes } = request.recording;
  refuseTooLong({ limits }, durationSeconds, "recording.duration_seconds");
  const maxBytes =
    request.fields.mode === "async"
      ? Math.max(limits.maxJobAudioBytes, limits.maxJobAudioUrlBytes)
      : Math.max(limits.maxAudioBytes, limits.maxAudioUrlBytes);
  if (sizeBytes !== null && sizeBytes > maxBytes)
    throw new GatewayError("AUDIO_TOO_LARGE", {
      message: `The audio has ${sizeBytes} bytes; the maximum is ${maxBytes} bytes this way.`,
      param: "recording.bytes",
      details: { max_audio_bytes: maxBytes, received_bytes: sizeBytes },
    });
}

/** The operator names an app by its id or as `workspace/app`. In a workspace its slug is enough. */
async function principalOf(
  services: ExplanationServices,
  scope: DirectoryScope,
  caller: ExplainedCaller,
): Promise<Principal> {
  const workspaceId = workspaceOf(scope);
  if (caller.kind === "key") {
    const found = await findKeyById(services.database, caller.id);
    if (found === null || (workspaceId !== null && found.workspace.id !== workspaceId)) throw noSuch("key");
    if (found.app === null) throw invalidRequest("key_id", "key_id: this key belongs to no app, so it has no route.");
    return found;
  }
  const { app, testMode } = caller;
  const name =
    workspaceId === null
      ? app
      : (await services.database.inWorkspace(workspaceId, (tx) => findApp(tx, workspaceId, app))).id;
  const found = await findAppPrincipal(services.database, name);
  if (found === null) throw noSuch("app");
  return { ...found, testMode };
}
