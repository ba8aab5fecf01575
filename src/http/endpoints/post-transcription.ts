// POST /v1/transcription, and the steps that other endpoints for audio share with it: admits the request, reads the body into the spool, calls the gateway,
// and releases what the request held.
import type { z } from "zod";
import type { Principal } from "../../auth/principal.ts";
import { postTranscriptionContract } from "../../contract/endpoints/endpoint-transcription.ts";
import type { EndpointContract } from "../../contract/endpoints/endpoint.ts";
import type { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import { transcriptionFields, type TranslationFields } from "../../contract/transcription/transcription-fields.ts";
import { type TranscriptionEnvelope } from "../../contract/transcription/transcription-envelope.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import type { GatewayReply } from "../../gateway/reply.ts";
import { streamTranscription, type TranscriptStream } from "../../gateway/transcription/stream-transcription.ts";
import { type TranscribeCall, transcribe } from "../../gateway/transcription/transcribe.ts";
import type { JobCall } from "../../jobs/new-submission.ts";
import { bareByAccept, chooseDelivery, refuseUndeliverable } from "../reply/choose-format.ts";
import type { Endpoint, HandlerContext, Reply } from "../server/endpoint.ts";
import type { FieldSchema } from "../body/fields.ts";
import { lateParts, openedWithin } from "../reply/late-stream.ts";
import { requireScope } from "../server/require-scope.ts";
import { routedHeaders } from "../server/routed-headers.ts";
import { sendGatewayReply } from "../reply/send-gateway-reply.ts";
import { type SubmissionEdge, takeSubmission } from "../body/take-submission.ts";
import { watchAuthorization } from "../server/watch-authorization.ts";
import { transcriptEvents, type WordTranscript } from "../reply/transcript-events.ts";

export interface TranscriptionEdge extends SubmissionEdge {
  readonly gateway: GatewayServices;
  /** Responds to `mode: async`. */
  readonly submitJob: (call: JobCall) => Promise<GatewayReply>;
  readonly publicUrl: () => string;
}

export function postTranscription(edge: TranscriptionEdge): Endpoint<Principal> {
  return speechEndpoint(edge, {
    contract: postTranscriptionContract,
    task: "transcribe",
    schema: transcriptionFields,
    word: nativeWording,
  });
}

/** The request in this API's fields, and how the response is delivered and formatted. */
export type WordedSpeech = Pick<TranscribeCall, "fields" | "formatByAccept" | "delivery" | "present"> & {
  readonly events: WordTranscript;
};

interface SpeechTask<S extends FieldSchema> {
  readonly contract: EndpointContract;
  readonly task: TranscribeCall["task"];
  readonly schema: S;
  /** Called with the `Accept` header before the body is read. The returned function is called with the fields. */
  readonly word: (accept: string | undefined) => (fields: z.infer<S>) => WordedSpeech;
}

export function nativeWording(accept: string | undefined): (fields: TranslationFields) => WordedSpeech {
  // A client that accepts events decides in the body whether to stream.
  if (accept?.toLowerCase().includes("text/event-stream") !== true) refuseUndeliverable(accept);
  return (fields) => {
    const wording = { present: (envelope: TranscriptionEnvelope) => envelope, events: transcriptEvents };
    // A job, a stream and a dry run of one each have only one format.
    if (asksForStream(fields) || fields.mode === "async") return { ...wording, fields, delivery: "json" };
    const bareFormat = fields.response_format === undefined ? bareByAccept(accept) : undefined;
    if (bareFormat !== undefined)
      return {
        ...wording,
        fields: { ...fields, response_format: bareFormat },
        formatByAccept: true,
        delivery: bareFormat,
      };
    return { ...wording, fields, delivery: chooseDelivery(accept, fields.response_format ?? "json") };
  };
}

/** `prefix` is the path of the fields in the body. */
export function refuseBoth({ stream, mode }: TranslationFields, prefix = ""): void {
  if (mode !== "async" || stream !== true) return;
  const message =
    "`stream` and `mode` async cannot be combined. Omit one; a job reports its progress at its `poll_url`.";
  throw invalidRequest(`${prefix}stream`, message);
}

function asksForStream({ stream, mode }: TranslationFields): boolean {
  return stream === true || mode === "realtime";
}

export function speechEndpoint<S extends FieldSchema>(
  edge: TranscriptionEdge,
  { contract, task, schema, word }: SpeechTask<S>,
): Endpoint<Principal> {
  return {
    contract,
    handle: async (context) => {
      const { headers } = context.request;
      const routed = routedHeaders(headers);
      const formatSpeech = word(headers.accept);
      await using held = new AsyncDisposableStack();
      const { quotas } = edge.gateway;
      const submission = await takeSubmission(edge, context, { schema, routed, quotas, held });
      const { events, delivery, present, ...callFields } = formatSpeech(submission.fields);
      const call = { ...submission.call, task, ...callFields };
      if (call.fields.mode === "async") {
        requireScope(call.principal, "jobs");
        refuseBoth(call.fields);
        return sendGatewayReply(await edge.submitJob({ ...call, ownFields: {} }));
      }
      const { receivedAtMs, clientGone } = context;
      // A dry run returns the routing decision, even for a stream.
      if (asksForStream(call.fields) && call.fields.dry_run !== true) {
        const { ended } = held.use(watchAuthorization([clientGone], context.callerNow));
        return await streamReply(edge, context, { ...call, receivedAtMs, clientGone: ended }, { events, held });
      }
      const plainCall = { ...call, delivery, present, receivedAtMs, clientGone };
      return sendGatewayReply(await transcribe(edge.gateway, plainCall));
    },
  };
}

interface Streaming {
  readonly events: WordTranscript;
  readonly held: AsyncDisposableStack;
}

/** Responds with the first content, or if that is late, with a ping. */
async function streamReply(
  { gateway, publicUrl }: TranscriptionEdge,
  { requestId }: Pick<HandlerContext, "requestId">,
  call: Parameters<typeof streamTranscription>[1],
  { events, held }: Streaming,
): Promise<Reply> {
  let decisionFacts: Pick<TranscriptStream, "simulated" | "facts"> = { simulated: false, facts: {} };
  const opening = streamTranscription(gateway, {
    ...call,
    onDecided: (decision) => {
      decisionFacts = decision;
    },
  });
  // Marks a rejection as handled. It is awaited and reported later.
  opening.catch(() => undefined);
  const stream = await openedWithin(opening, gateway.statusLineMs);
  const onError = (error: GatewayError, cause: unknown): void => {
    call.recorder.broke(error.code);
    if (error.code === "INTERNAL") gateway.logger.error({ request_id: requestId, code: error.code, err: cause });
  };
  const { simulated, facts } = stream ?? decisionFacts;
  return {
    status: 200,
    headers: simulated ? { "x-svc-simulated": "true", ...facts } : facts,
    body: {
      events: events(stream?.parts ?? lateParts(opening, { onError }), { requestId, publicUrl: publicUrl() }),
      held: held.move(),
      startsWithPing: stream === null,
    },
  };
}
