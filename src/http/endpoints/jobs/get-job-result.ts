// GET /v1/transcription/results/{token}: returns a job's result. The token is the credential [jobs.result-token].
import type { Principal } from "../../../auth/principal.ts";
import { getJobResultContract } from "../../../contract/endpoints/endpoint-jobs.ts";
import { simulatedMark } from "../../../gateway/transcription/delivery.ts";
import { fetchSignedResult } from "../../../jobs/read/export-result.ts";
import type { JobServices } from "../../../jobs/services.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { pathParameter } from "../../server/path-parameter.ts";

export function getJobResult(jobs: JobServices): Endpoint<Principal> {
  return {
    contract: getJobResultContract,
    handle: async (context) => {
      const { envelope, simulated } = await fetchSignedResult(jobs, pathParameter(context, "token"), context.room);
      return {
        status: 200,
        headers: simulatedMark(simulated),
        body: { pieces: [envelope], contentType: "application/json; charset=utf-8" },
      };
    },
  };
}
