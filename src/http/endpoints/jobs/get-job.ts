// GET /v1/transcription/jobs/{job_id}: returns the job now, when it ends (long polling), at every change (events), or in another format [jobs.wait]
// [jobs.export].
import type { Principal } from "../../../auth/principal.ts";
import { getJobContract } from "../../../contract/endpoints/endpoint-jobs.ts";
import { jobQuery } from "../../../contract/jobs.ts";
import { DELIVERY_TYPES } from "../../../gateway/transcription/delivery.ts";
import type { JobView } from "../../../jobs/read/describe-job.ts";
import { exportJob } from "../../../jobs/read/export-result.ts";
import { findJob, pollJob, watchJob } from "../../../jobs/read/read-job.ts";
import type { JobServices } from "../../../jobs/services.ts";
import { chooseMediaType } from "../../reply/choose-format.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { jobEvent, jobReply } from "../../reply/job-reply.ts";
import { jobOf } from "./job-of.ts";
import { readQuery } from "../../body/read-fields.ts";
import { sendGatewayReply } from "../../reply/send-gateway-reply.ts";
import type { ServerEvent } from "../../reply/sse.ts";
import { watchAuthorization } from "../../server/watch-authorization.ts";

const EVENTS = "text/event-stream";

export function getJob(jobs: JobServices, draining: AbortSignal): Endpoint<Principal> {
  return {
    contract: getJobContract,
    handle: async (context) => {
      const { owner, id } = jobOf(context);
      const { wait = 0, format } = readQuery(context.request, jobQuery);
      const { room } = context;
      const { accept } = context.request.headers;
      // Waiting ends when the process shuts down. The client continues at another process.
      const signals = [context.clientGone, draining];
      await using held = new AsyncDisposableStack();
      const watch = held.use(watchAuthorization(signals, context.callerNow));
      const waiting = { milliseconds: wait * 1000, signal: watch.ended, room };
      if (format !== undefined) {
        const type = format === "verbose_json" ? DELIVERY_TYPES.json : DELIVERY_TYPES[format];
        chooseMediaType(accept, [type]);
        return sendGatewayReply(await watch.unlessRevoked(exportJob(jobs, owner, id, { format, waiting })));
      }
      if (chooseMediaType(accept, [DELIVERY_TYPES.json, EVENTS]) === EVENTS) {
        await findJob(jobs, owner, id);
        return { status: 200, body: { events: asEvents(watchJob(jobs, owner, id, waiting)), held: held.move() } };
      }
      return jobReply(await watch.unlessRevoked(pollJob(jobs, owner, id, waiting)));
    },
  };
}

async function* asEvents(changes: AsyncIterable<JobView>): AsyncGenerator<ServerEvent> {
  for await (const view of changes) yield jobEvent(view);
}
