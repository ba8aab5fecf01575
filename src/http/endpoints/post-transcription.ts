// POST /v1/transcription and similar endpoints: admits, reads the body into the spool, calls the gateway, cleans up.
import type { z } from "zod";
import type { Principal } from "../../auth/principal.ts";
import { postTranscriptionContract } from "../../contract/endpoint-transcription.ts";
import type { EndpointContract } from "../../contract/endpoint.ts";
import type { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import {
  type TranscriptionEnvelope,
  transcriptionFields,
  type TranslationFields,
} from "../../contract/transcription.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import type { GatewayReply } from "../../gateway/reply.ts";
import { streamTranscription, type TranscriptStream } from "../../gateway/transcription/stream-transcription.ts";
import { type TranscribeCall, transcribe } from "../../gateway/transcription/transcribe.ts";
import type { JobCall } from "../../jobs/submit.ts";
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
  /** What answers `mode: async`. */
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

/** The fields in our words, and how the answer is delivered and worded. */
export type WordedSpeech = Pick<TranscribeCall, "fields" | "formatByAccept" | "delivery" | "present"> & {
  readonly events: WordTranscript;
};

interface SpeechTask<S extends FieldSchema> {
  readonly contract: EndpointContract;
  readonly task: TranscribeCall["task"];
  readonly schema: S;
  /** Called with the head, before the body is read; then with the fields. */
  readonly word: (accept: string | undefined) => (fields: z.infer<S>) => WordedSpeech;
}

export function nativeWording(accept: string | undefined): (fields: TranslationFields) => WordedSpeech {
  // Who would take events says in the body whether there are to be any.
  if (accept?.toLowerCase().includes("text/event-stream") !== true) refuseUndeliverable(accept);
  return (fields) => {
    const wording = { present: (envelope: TranscriptionEnvelope) => envelope, events: transcriptEvents };
    // A job and a stream have one form each, and so has the decision about one.
    if (asksForStream(fields) || fields.mode === "async") return { ...wording, fields, delivery: "json" };
    const bare = fields.response_format === undefined ? bareByAccept(accept) : undefined;
    if (bare !== undefined)
      return { ...wording, fields: { ...fields, response_format: bare }, formatByAccept: true, delivery: bare };
    return { ...wording, fields, delivery: chooseDelivery(accept, fields.response_format ?? "json") };
  };
}

/** `prefix`: where the fields stand in the body. */
export function refuseBoth({ stream, mode }: TranslationFields, prefix = ""): void {
  if (mode !== "async" || stream !== true) return;
  const message = "`stream` and `mode` async exclude each other: a job is followed at its `poll_url`. Leave one out.";
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
      const worded = word(headers.accept);
      await using held = new AsyncDisposableStack();
      const { quotas } = edge.gateway;
      const taken = await takeSubmission(edge, context, { schema, routed, quotas, held });
      const { events, delivery, present, ...given } = worded(taken.fields);
      const call = { ...taken.call, task, ...given };
      if (call.fields.mode === "async") {
        requireScope(call.principal, "jobs");
        refuseBoth(call.fields);
        return sendGatewayReply(await edge.submitJob({ ...call, ownFields: {} }));
      }
      const { receivedAtMs, clientGone } = context;
      // A dry run answers with the decision, whatever it is about.
      if (asksForStream(call.fields) && call.fields.dry_run !== true) {
        const { ended } = held.use(watchAuthorization([clientGone], context.callerNow));
        return await streamReply(edge, context, { ...call, receivedAtMs, clientGone: ended }, { events, held });
      }
      const answered = { ...call, delivery, present, receivedAtMs, clientGone };
      return sendGatewayReply(await transcribe(edge.gateway, answered));
    },
  };
}

interface Streaming {
  readonly events: WordTranscript;
  readonly held: AsyncDisposableStack;
}

/** With the first content, or without it where that is late: then with the first ping. */
async function streamReply(
  { gateway, publicUrl }: TranscriptionEdge,
  { requestId }: Pick<HandlerContext, "requestId">,
  call: Parameters<typeof streamTranscription>[1],
  { events, held }: Streaming,
): Promise<Reply> {
  let known: Pick<TranscriptStream, "simulated" | "facts"> = { simulated: false, facts: {} };
  const opening = streamTranscription(gateway, {
    ...call,
    onDecided: (decided) => {
      known = decided;
    },
  });
  // Its failure is awaited where it is told.
  opening.catch(() => undefined);
  const stream = await openedWithin(opening, gateway.statusLineMs);
  const onError = (error: GatewayError, cause: unknown): void => {
    call.recorder.broke(error.code);
    if (error.code === "INTERNAL") gateway.logger.error({ request_id: requestId, code: error.code, err: cause });
  };
  const { simulated, facts } = stream ?? known;
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
