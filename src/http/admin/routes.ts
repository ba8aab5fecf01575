// Manages routes, their versions and the purposes they publish, shared ones and those of workspaces [admin.route-versions].
import { listPurposes, putPurpose, removePurpose } from "../../admin/routes/purposes.ts";
import { describeVersion, listVersionViews } from "../../admin/routes/route-versions.ts";
import {
  createRoute,
  describeRoute,
  listRouteViews,
  publishRoute,
  removeRoute,
  reviseRoute,
  rollBackRoute,
} from "../../admin/routes/routes.ts";
import type { SetUpActor } from "../../admin/set-up-scope.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  deletePurposeContracts,
  deleteRouteContracts,
  getRouteContracts,
  getRouteVersionContracts,
  listPurposesContracts,
  listRoutesContracts,
  listRouteVersionsContracts,
  postRouteContracts,
  publishRouteContracts,
  putPurposeContracts,
  putRouteContracts,
  rollBackRouteContracts,
  routeQuery,
  versionChoice,
} from "../../contract/admin/routes.ts";
import type { HandlerContext } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readFields, readQuery } from "../body/read-fields.ts";
import { everywhereEndpoint, type EverywhereEndpoint, readObject } from "./owner-endpoints.ts";
import { type AdminEdge, deletedReply, listReply, objectReply, pageRequest, preconditionOf } from "./frame.ts";

const LIST = "routes";
const VERSIONS = "route_versions";
/** At most nine digits, so that it fits into an integer column. */
const VERSION = /^[1-9]\d{0,8}$/u;

export function routeEndpoints(edge: AdminEdge): readonly EverywhereEndpoint[] {
  const { setUp } = edge;
  return [
    everywhereEndpoint(edge, listRoutesContracts, async ({ request }, { scope }) => {
      const page = pageRequest(LIST, readQuery(request, routeQuery));
      return listReply(LIST, await listRouteViews(setUp, { scope, ...page }));
    }),
    everywhereEndpoint(edge, postRouteContracts, async (context, actor) =>
      objectReply(await createRoute(setUp, { ...actor, body: await readObject(context) }), 201),
    ),
    everywhereEndpoint(edge, getRouteContracts, async (context, actor) =>
      objectReply(await describeRoute(setUp, routeOf(context, actor))),
    ),
    everywhereEndpoint(edge, putRouteContracts, async (context, actor) => {
      const change = changeOf(context, actor);
      return objectReply(await reviseRoute(setUp, { ...change, body: await readObject(context, { id: change.id }) }));
    }),
    everywhereEndpoint(edge, publishRouteContracts, async (context, actor) => {
      const change = changeOf(context, actor);
      return objectReply(await publishRoute(setUp, { ...change, ...(await readVersionChoice(context)) }));
    }),
    everywhereEndpoint(edge, rollBackRouteContracts, async (context, actor) => {
      const change = changeOf(context, actor);
      return objectReply(await rollBackRoute(setUp, { ...change, ...(await readVersionChoice(context)) }));
    }),
    everywhereEndpoint(edge, deleteRouteContracts, async (context, actor) => {
      const change = changeOf(context, actor);
      await removeRoute(setUp, change);
      return deletedReply("route", change.id);
    }),
    ...versionEndpoints(edge),
    ...purposeEndpoints(edge),
  ];
}

function versionEndpoints(edge: AdminEdge): readonly EverywhereEndpoint[] {
  const { setUp } = edge;
  return [
    everywhereEndpoint(edge, listRouteVersionsContracts, async (context, actor) => {
      const query = readQuery(context.request, routeQuery);
      const page = pageRequest(VERSIONS, query, (position) => VERSION.test(position));
      return listReply(VERSIONS, await listVersionViews(setUp, { ...routeOf(context, actor), ...page }));
    }),
    everywhereEndpoint(edge, getRouteVersionContracts, async (context, actor) => {
      const version = pathParameter(context, "version");
      // No version has the number 0, so an invalid number gets the same 404.
      const number = VERSION.test(version) ? Number(version) : 0;
      return objectReply(await describeVersion(setUp, { ...routeOf(context, actor), version: number }));
    }),
  ];
}

function purposeEndpoints(edge: AdminEdge): readonly EverywhereEndpoint[] {
  const { setUp } = edge;
  return [
    everywhereEndpoint(edge, listPurposesContracts, async (context, actor) =>
      objectReply(await listPurposes(setUp, routeOf(context, actor))),
    ),
    everywhereEndpoint(edge, putPurposeContracts, async (context, actor) => {
      const change = changeOf(context, actor);
      const label = pathParameter(context, "label");
      const body = await readObject(context, { purpose: label });
      return objectReply(await putPurpose(setUp, { ...change, label, body }));
    }),
    everywhereEndpoint(edge, deletePurposeContracts, async (context, actor) => {
      const change = changeOf(context, actor);
      return objectReply(await removePurpose(setUp, { ...change, label: pathParameter(context, "label") }));
    }),
  ];
}

async function readVersionChoice({ request }: HandlerContext<Principal>) {
  const { version, confirm_ending: confirmEnding } = await readFields(request, versionChoice);
  return { version, confirmEnding };
}

function routeOf(context: HandlerContext<Principal>, { scope }: SetUpActor) {
  return { scope, id: pathParameter(context, "route_id") };
}

function changeOf(context: HandlerContext<Principal>, actor: SetUpActor) {
  return { ...actor, id: pathParameter(context, "route_id"), precondition: preconditionOf(context) };
}
