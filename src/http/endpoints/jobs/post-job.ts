// POST /v1/transcription/jobs: admits the request, reads the body into the spool, and submits the job [jobs.accepted-durable].
import type { Principal } from "../../../auth/principal.ts";
import { postJobContract } from "../../../contract/endpoints/endpoint-jobs.ts";
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
      const { task: sentTask, metadata, ...speechFields } = fields;
      const task = sentTask ?? "transcribe";
      // Refused, because accepting and ignoring it would silently drop a setting.
      if (task === "transcribe" && speechFields.to_language !== undefined) throw onlyTranslated();
      const ownFields = { task: sentTask, metadata };
      return sendGatewayReply(await submitJob(edge.jobs, { ...call, task, fields: speechFields, ownFields }));
    },
  };
}

function onlyTranslated(): GatewayError {
  const message = "`to_language` requires `task` translate. Set `task`, or omit `to_language`.";
  return createFaults().fatal("to_language", message);
}
