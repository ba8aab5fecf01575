// POST /v1/transcription/jobs: admits, reads the body into the spool, calls the gateway, cleans up [jobs.accepted-durable].
import type { Principal } from "../../../auth/principal.ts";
import { postJobContract } from "../../../contract/endpoint-jobs.ts";
import { jobFields } from "../../../contract/jobs.ts";
import type { GatewayError } from "../../../contract/errors.ts";
import type { JobServices } from "../../../jobs/services.ts";
import { submitJob } from "../../../jobs/submit.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { createFaults } from "../../body/validation-issues.ts";
import { routedHeaders } from "../../server/routed-headers.ts";
import { sendGatewayReply } from "../../reply/send-gateway-reply.ts";
import { type SubmissionEdge, takeSubmission } from "../../body/take-submission.ts";

export interface JobEdge extends SubmissionEdge {
  readonly jobs: JobServices;
}

export function postJob(edge: JobEdge): Endpoint<Principal> {
  return {
    contract: postJobContract,
    handle: async (context) => {
      const routed = routedHeaders(context.request.headers);
      await using held = new AsyncDisposableStack();
      const { quotas } = edge.jobs.gateway;
      const { fields, call } = await takeSubmission({ ...edge, hashed: true }, context, {
        schema: jobFields,
        routed,
        quotas,
        held,
      });
      const { task: sentTask, metadata, ...asked } = fields;
      const task = sentTask ?? "transcribe";
      // Taken and forgotten it would be a wish that is dropped without a word.
      if (task === "transcribe" && asked.to_language !== undefined) throw onlyTranslated();
      const ownFields = { task: sentTask, metadata };
      return sendGatewayReply(await submitJob(edge.jobs, { ...call, task, fields: asked, ownFields }));
    },
  };
}

function onlyTranslated(): GatewayError {
  const message = "`to_language` is for translations: send `task` as translate with it, or leave it out.";
  return createFaults().fatal("to_language", message);
}
