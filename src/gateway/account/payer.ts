// The owner of the work and who is charged for it, derived once per request or job.
import type { AppId, KeyId, RequestId, WorkspaceId } from "../../contract/ids.ts";
import type { PurposeFields } from "../../contract/transcription/transcription-envelope.ts";
import type { RoutedCall } from "../transcription/audio-call.ts";
import { appOf } from "./app-of.ts";

export interface Payer {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly keyId: KeyId | null;
  /** The applied purpose. */
  readonly purpose: string | null;
  readonly testMode: boolean;
  /** The workspace has a plan with credits that pay for audio [budgets.plan-credits]. */
  readonly hasPlan: boolean;
}

export function payerOf(
  { requestId, endpoint, principal }: Pick<RoutedCall, "requestId" | "endpoint" | "principal">,
  { svc_applied_purpose: purpose }: Pick<PurposeFields, "svc_applied_purpose">,
): Payer {
  return {
    requestId,
    endpoint,
    workspaceId: principal.workspace.id,
    appId: appOf(principal).id,
    keyId: principal.key.id,
    purpose,
    testMode: principal.testMode,
    hasPlan: principal.workspace.plan !== null,
  };
}
