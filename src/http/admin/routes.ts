// Shared routes and those of workspaces, their versions and the purposes they publish [admin.route-versions].
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
} from "../../contract/routes.ts";
import type { HandlerContext } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readFields, readQuery } from "../body/read-fields.ts";
import { everywhereEndpoint, type EverywhereEndpoint, readObject } from "./everywhere.ts";
import { type AdminEdge, deletedReply, listReply, objectReply, pageRequest, preconditionOf } from "./frame.ts";

const LIST = "routes";
const VERSIONS = "route_versions";
/** Of digits that an integer column takes. */
const VERSION = /^[1-9]\d{0,8}$/u;

export function routeEndpoints(edge: AdminEdge): readonly EverywhereEndpoint[] {
  const { setUp } = edge;
  return [
    everywhereEndpoint(edge, listRoutesContracts, async ({ request }, { scope }) => {
      const page = pageRequest(LIST, readQuery(request, routeQuery));
      return listReply(LIST, await listRouteViews(setUp, { scope, ...page }));
    }),
    everywhereEndpoint(edge, postRouteContracts, async (context, whose) =>
      objectReply(await createRoute(setUp, { ...whose, body: await readObject(context) }), 201),
    ),
    everywhereEndpoint(edge, getRouteContracts, async (context, whose) =>
      objectReply(await describeRoute(setUp, routeOf(context, whose))),
    ),
    everywhereEndpoint(edge, putRouteContracts, async (context, whose) => {
      const change = changeOf(context, whose);
      return objectReply(await reviseRoute(setUp, { ...change, body: await readObject(context, { id: change.id }) }));
    }),
    everywhereEndpoint(edge, publishRouteContracts, async (context, whose) => {
      const change = changeOf(context, whose);
      const { version } = await readFields(context.request, versionChoice);
      return objectReply(await publishRoute(setUp, { ...change, version }));
    }),
    everywhereEndpoint(edge, rollBackRouteContracts, async (context, whose) => {
      const change = changeOf(context, whose);
      const { version } = await readFields(context.request, versionChoice);
      return objectReply(await rollBackRoute(setUp, { ...change, version }));
    }),
    everywhereEndpoint(edge, deleteRouteContracts, async (context, whose) => {
      const change = changeOf(context, whose);
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
    everywhereEndpoint(edge, listRouteVersionsContracts, async (context, whose) => {
      const query = readQuery(context.request, routeQuery);
      const page = pageRequest(VERSIONS, query, (position) => VERSION.test(position));
      return listReply(VERSIONS, await listVersionViews(setUp, { ...routeOf(context, whose), ...page }));
    }),
    everywhereEndpoint(edge, getRouteVersionContracts, async (context, whose) => {
      const version = pathParameter(context, "version");
      // No version has the number 0: what is no number at all is as missing as that.
      const number = VERSION.test(version) ? Number(version) : 0;
      return objectReply(await describeVersion(setUp, { ...routeOf(context, whose), version: number }));
    }),
  ];
}

function purposeEndpoints(edge: AdminEdge): readonly EverywhereEndpoint[] {
  const { setUp } = edge;
  return [
    everywhereEndpoint(edge, listPurposesContracts, async (context, whose) =>
      objectReply(await listPurposes(setUp, routeOf(context, whose))),
    ),
    everywhereEndpoint(edge, putPurposeContracts, async (context, whose) => {
      const change = changeOf(context, whose);
      const label = pathParameter(context, "label");
      const body = await readObject(context, { purpose: label });
      return objectReply(await putPurpose(setUp, { ...change, label, body }));
    }),
    everywhereEndpoint(edge, deletePurposeContracts, async (context, whose) => {
      const change = changeOf(context, whose);
      return objectReply(await removePurpose(setUp, { ...change, label: pathParameter(context, "label") }));
    }),
  ];
}

function routeOf(context: HandlerContext<Principal>, { scope }: SetUpActor) {
  return { scope, id: pathParameter(context, "route_id") };
}

function changeOf(context: HandlerContext<Principal>, whose: SetUpActor) {
  return { ...whose, id: pathParameter(context, "route_id"), precondition: preconditionOf(context) };
}
