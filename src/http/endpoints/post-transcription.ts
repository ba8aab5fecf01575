// POST /v1/transcription (spec 4.1) and its like: admits, reads the body into the spool, hands over to the gateway, cleans up.
import type { z } from "zod";
import type { Principal } from "../../auth/principal.ts";
import type { Spool } from "../../audio/spool.ts";
import { postTranscriptionContract } from "../../contract/endpoint-transcription.ts";
import type { EndpointContract } from "../../contract/endpoint.ts";
import { transcriptionFields, type TranslationFields } from "../../contract/transcription.ts";
import type { Admission } from "../../gateway/admission.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import type { GatewayReply } from "../../gateway/reply.ts";
import { type TranscribeCall, transcribe } from "../../gateway/transcribe.ts";
import type { JobCall } from "../../jobs/submit.ts";
import { chooseDelivery } from "../choose-format.ts";
import { type Endpoint, principalOf } from "../endpoint.ts";
import type { FieldSchema } from "../fields.ts";
import { readSubmissionAs } from "../read-audio.ts";
import { requireScope } from "../require-scope.ts";
import { routedHeaders } from "../routed-headers.ts";
import { sendGatewayReply } from "../send-gateway-reply.ts";

export interface TranscriptionEdge {
  readonly gateway: GatewayServices;
  readonly admission: Admission;
  readonly spool: Spool;
  readonly maxAudioBytes: number;
  /** What answers `mode: async`. */
  readonly submitJob: (call: JobCall) => Promise<GatewayReply>;
}

export function postTranscription(edge: TranscriptionEdge): Endpoint<Principal> {
  return speechEndpoint(edge, {
    contract: postTranscriptionContract,
    task: "transcribe",
    schema: transcriptionFields,
    word: nativeWording,
  });
}

/** The fields in our words, and how the answer is delivered and worded. */
export type WordedSpeech = Pick<TranscribeCall, "fields" | "delivery" | "present">;

interface SpeechTask<S extends FieldSchema> {
  readonly contract: EndpointContract;
  readonly task: TranscribeCall["task"];
  readonly schema: S;
  /** Called with the head, before the body is read; then with the fields. */
  readonly word: (accept: string | undefined) => (fields: z.infer<S>) => WordedSpeech;
}

export function nativeWording(accept: string | undefined): (fields: TranslationFields) => WordedSpeech {
  const delivery = chooseDelivery(accept);
  return (fields) => ({ fields, delivery, present: (envelope) => envelope });
}

export function speechEndpoint<S extends FieldSchema>(
  edge: TranscriptionEdge,
  { contract, task, schema, word }: SpeechTask<S>,
): Endpoint<Principal> {
  return {
    contract,
    handle: async (context) => {
      const principal = principalOf(context);
      const { headers, raw, query } = context.request;
      const routed = routedHeaders(headers);
      const worded = word(headers.accept);
      await using held = new AsyncDisposableStack();
      held.defer(edge.gateway.quotas.enter(principal));
      held.defer(edge.admission.enter(Number(headers["content-length"] ?? edge.maxAudioBytes)));
      const { fields, audio } = await readSubmissionAs(
        schema,
        { headers, body: raw, query: query as Record<string, unknown> },
        { spool: edge.spool, maxAudioBytes: edge.maxAudioBytes },
      );
      held.defer(async () => (audio.kind === "spooled" ? audio.spooled.dispose() : undefined));
      const call = {
        requestId: context.requestId,
        endpoint: `${contract.method} ${contract.path}`,
        task,
        principal,
        ...worded(fields),
        audio,
        purposeHeader: routed.purpose,
        policyHeader: routed.policy,
        idempotencyKey: routed.idempotencyKey,
      };
      if (call.fields.mode === "async") {
        requireScope(principal, "jobs");
        return sendGatewayReply(await edge.submitJob({ ...call, metadata: {} }));
      }
      const { receivedAt: receivedAtMs, clientGone } = context;
      return sendGatewayReply(await transcribe(edge.gateway, { ...call, receivedAtMs, clientGone }));
    },
  };
}
