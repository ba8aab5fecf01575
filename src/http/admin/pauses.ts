// Manually pauses and resumes provider connections, shared ones and those of workspaces [admin.pause].
import { listPauseViews, pauseConnection, resumeConnection } from "../../admin/connections/pauses.ts";
import {
  listPausesContracts,
  pauseConnectionContracts,
  pauseRequest,
  resumeConnectionContracts,
  resumeRequest,
} from "../../contract/admin/pauses.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readFields } from "../body/read-fields.ts";
import { everywhereEndpoint, type EverywhereEndpoint } from "./owner-endpoints.ts";
import type { AdminEdge } from "./frame.ts";

export function pauseEndpoints(edge: AdminEdge): readonly EverywhereEndpoint[] {
  const { pauses } = edge;
  return [
    everywhereEndpoint(edge, listPausesContracts, async (_context, { scope }) => ({
      status: 200,
      body: { json: await listPauseViews(pauses, { scope }) },
    })),
    everywhereEndpoint(edge, pauseConnectionContracts, async (context, actor) => {
      const id = pathParameter(context, "connection_id");
      const { model, duration_seconds: seconds, reason } = await readFields(context.request, pauseRequest);
      return { status: 200, body: { json: await pauseConnection(pauses, { ...actor, id, model, seconds, reason }) } };
    }),
    everywhereEndpoint(edge, resumeConnectionContracts, async (context, actor) => {
      const id = pathParameter(context, "connection_id");
      const { model } = await readFields(context.request, resumeRequest);
      return { status: 200, body: { json: await resumeConnection(pauses, { ...actor, id, model }) } };
    }),
  ];
}
