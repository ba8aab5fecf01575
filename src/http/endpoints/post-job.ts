// POST /v1/transcription/jobs (spec 4.3; contract 5): admits, reads the body into the spool, hands over, cleans up.
import type { Principal } from "../../auth/principal.ts";
import type { Spool } from "../../audio/spool.ts";
import { postJobContract } from "../../contract/endpoint-jobs.ts";
import { jobFields } from "../../contract/jobs.ts";
import type { Admission } from "../../gateway/admission.ts";
import type { JobServices } from "../../jobs/services.ts";
import { submitJob } from "../../jobs/submit.ts";
import { type Endpoint, principalOf, recorderOf } from "../endpoint.ts";
import { readSubmissionAs } from "../read-audio.ts";
import { routedHeaders } from "../routed-headers.ts";
import { sendGatewayReply } from "../send-gateway-reply.ts";

export interface JobEdge {
  readonly jobs: JobServices;
  readonly admission: Admission;
  readonly spool: Spool;
  readonly maxAudioBytes: number;
}

export function postJob(edge: JobEdge): Endpoint<Principal> {
  const contract = postJobContract;
  return {
    contract,
    handle: async (context) => {
      const principal = principalOf(context);
      const { headers, raw, query } = context.request;
      const routed = routedHeaders(headers);
      await using held = new AsyncDisposableStack();
      held.defer(edge.jobs.gateway.quotas.enter(principal));
      held.defer(edge.admission.enter(Number(headers["content-length"] ?? edge.maxAudioBytes)));
      const { fields, audio } = await readSubmissionAs(
        jobFields,
        { headers, body: raw, query: query as Record<string, unknown> },
        { spool: edge.spool, maxAudioBytes: edge.maxAudioBytes },
      );
      held.defer(async () => (audio.kind === "spooled" ? audio.spooled.dispose() : undefined));
      const { task = "transcribe", metadata = {}, ...asked } = fields;
      const reply = await submitJob(edge.jobs, {
        requestId: context.requestId,
        endpoint: `${contract.method} ${contract.path}`,
        task,
        principal,
        fields: asked,
        metadata,
        audio,
        purposeHeader: routed.purpose,
        policyHeader: routed.policy,
        idempotencyKey: routed.idempotencyKey,
        recorder: recorderOf(context),
      });
      return sendGatewayReply(reply);
    },
  };
}
