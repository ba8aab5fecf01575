// The first steps of every request with audio: admission, then reading the body into the spool [api.admission]. All acquired resources are held until
// the caller disposes of `held`.
import type { Principal } from "../../auth/principal.ts";
import type { Spool } from "../../audio/spool.ts";
import { type Admission, bodyOwner } from "../../gateway/admission.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { expectedLength } from "./content-type.ts";
import { type HandlerContext, principalOf, recorderOf } from "../server/endpoint.ts";
import type { FieldSchema } from "./fields.ts";
import { readSubmission } from "./read-audio.ts";
import type { RoutedHeaders } from "../server/routed-headers.ts";
import { mapDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";

export interface SubmissionEdge {
  readonly admission: Admission;
  readonly spool: Spool;
  readonly maxAudioBytes: number;
  readonly hashed?: boolean;
}

interface SubmissionOf<S extends FieldSchema> {
  readonly schema: S;
  /** Validated before anything is acquired. */
  readonly routed: RoutedHeaders;
  readonly quotas: GatewayServices["quotas"];
  readonly held: AsyncDisposableStack;
}

/** Returns the fields and the other inputs of a transcription call. */
export async function takeSubmission<S extends FieldSchema>(
  edge: SubmissionEdge,
  context: HandlerContext<Principal>,
  { schema, routed, quotas, held }: SubmissionOf<S>,
) {
  const principal = principalOf(context);
  const { headers, raw, query } = context.request;
  held.defer(await mapDatabaseUnavailable(quotas.enter(principal)));
  const bytes = expectedLength(headers, edge.maxAudioBytes);
  held.use(edge.admission.enter({ owner: bodyOwner(principal), place: "file", bytes }));
  const { fields, audio } = await readSubmission(schema, { headers, body: raw, query }, edge);
  held.defer(async () => (audio.kind === "spooled" ? audio.spooled.dispose() : undefined));
  return {
    fields,
    call: {
      requestId: context.requestId,
      endpoint: context.endpoint,
      principal,
      audio,
      purposeHeader: routed.purpose,
      policyHeader: routed.policy,
      idempotencyKey: routed.idempotencyKey,
      recorder: recorderOf(context),
      room: context.room,
    },
  };
}
