// GET /v1/transcription/results/{token} (contract 5): the token is the credential.
import type { Principal } from "../../auth/principal.ts";
import { getJobResultContract } from "../../contract/endpoint-jobs.ts";
import { fetchSignedResult } from "../../jobs/export-result.ts";
import type { JobServices } from "../../jobs/services.ts";
import type { Endpoint } from "../endpoint.ts";
import { pathParameter } from "../path-parameter.ts";
import { sendGatewayReply } from "../send-gateway-reply.ts";

export function getJobResult(jobs: JobServices): Endpoint<Principal> {
  return {
    contract: getJobResultContract,
    handle: async (context) => sendGatewayReply(await fetchSignedResult(jobs, pathParameter(context, "token"))),
  };
}
