// Decides whether the idempotency key of a request counts, and with which payload its slot is claimed [idempotency.ignored] [idempotency.same-payload].
import { refuseMalformedKey } from "../../contract/idempotency-key.ts";
import { combinePolicies } from "../../routing/resolve-purpose.ts";
import type { ChatCall } from "../chat/chat-call.ts";
import type { AudioCall } from "../transcription/audio-call.ts";
import { fingerprint, normalizedDataPolicy, payloadFingerprint } from "./fingerprint.ts";
import type { ClaimRequest } from "./idempotency.ts";

/** Null if there is no key, or if it is ignored. `extra`: the endpoint's own fields. */
export async function audioSlotRequest(
  call: AudioCall,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<ClaimRequest | null> {
  const { idempotencyKey, fields, formatByAccept, principal, endpoint, audio } = call;
  const isIgnored = fields.stream === true || fields.dry_run === true;
  if (idempotencyKey === null || isIgnored || principal.app === null) return null;
  refuseMalformedKey(idempotencyKey);
  return {
    workspaceId: principal.workspace.id,
    appId: principal.app.id,
    key: idempotencyKey,
    endpoint,
    room: call.room,
    fingerprint: fingerprint({
      endpoint,
      fields: formatByAccept === true ? { ...fields, response_format: undefined } : fields,
      extra,
      requestedPurpose: fields.purpose ?? call.purposeHeader,
      requestedPolicy: combinePolicies(fields.purpose_policy ?? null, call.policyHeader),
      audio:
        audio.kind === "url"
          ? { kind: "url", url: audio.url }
          : { kind: "bytes", sha256: await audio.spooled.sha256(), sizeBytes: audio.spooled.sizeBytes },
    }),
  };
}

/** Null if there is no key. Streams and dry runs of a chat claim no slot. */
export function chatSlotRequest(call: ChatCall): ClaimRequest | null {
  const { idempotencyKey, principal, endpoint } = call;
  if (idempotencyKey === null || principal.app === null) return null;
  refuseMalformedKey(idempotencyKey);
  const { purpose, purpose_policy: _, data_policy: dataPolicy, ...fields } = call.fields;
  return {
    workspaceId: principal.workspace.id,
    appId: principal.app.id,
    key: idempotencyKey,
    endpoint,
    room: call.room,
    fingerprint: payloadFingerprint({
      ...fields,
      data_policy: normalizedDataPolicy(dataPolicy),
      endpoint,
      purpose: purpose ?? call.purposeHeader,
    }),
  };
}
