// Schemas and endpoints of the admin API for routes, their versions and their purposes: every change creates a version, and one version is published
// [admin.route-versions].
import { z } from "zod";
import {
  CHANGE_ERRORS,
  json,
  jsonWithEtag,
  listOf,
  managedBy,
  optionalMatch,
  pageFields,
  requiredMatch,
  time,
} from "./admin.ts";
import { boundPurpose } from "./apps.ts";
import { mirrorForAllOwners } from "../endpoints/owner-endpoints.ts";
import { confirmEnding, purposeSection, routeRequest } from "../settings/route.ts";
import { deletedView } from "./workspaces.ts";

const definition = z
  .record(z.string(), z.unknown())
  .describe("In the format of the configuration file, with defaults filled in.");

export const routeView = z.strictObject({
  object: z.literal("route"),
  id: z.string(),
  version: z.int().nullable().describe("The published version, which is live. Null: none was published yet."),
  definition: definition.nullable().describe("Of the published version."),
  previous_version: z.int().nullable().describe("The version that was live before: target of a roll-back."),
  draft: z
    .strictObject({ version: z.int(), definition })
    .nullable()
    .describe("The latest version, if it was never published."),
  managed_by: managedBy,
  created_at: time,
  updated_at: time,
});
export type RouteView = z.infer<typeof routeView>;
export const routeList = listOf(routeView);

export const routeVersionView = z.strictObject({
  object: z.literal("route_version"),
  id: z.string().describe("Id of the route."),
  version: z.int(),
  state: z.enum(["draft", "live", "retired"]),
  definition,
  created_at: time,
  actor_key_id: z.string().nullable().describe("Null: the configuration file."),
  published_at: time.nullable().describe("When it was first published."),
});
export type RouteVersionView = z.infer<typeof routeVersionView>;
export const routeVersionList = listOf(routeVersionView);

const purposeView = z.strictObject({ object: z.literal("purpose"), ...boundPurpose.shape });

export const purposeList = z.strictObject({
  object: z.literal("list"),
  version: z.int().describe("Published version of the route that publishes them."),
  data: z.array(purposeView),
});
export type PurposeList = z.infer<typeof purposeList>;

export const routeQuery = z.object(pageFields);
/** Maximum of the database column. */
const MOST_VERSIONS = 2_147_483_647;

export const versionChoice = z.strictObject({
  version: z
    .int()
    .min(1)
    .max(MOST_VERSIONS)
    .nullable()
    .default(null)
    .describe("Default: the latest; for a roll-back, the previous live one."),
  confirm_ending: confirmEnding,
});

const ALL = "/routes";
const ONE = `${ALL}/:route_id`;
const VERSIONS = `${ONE}/versions`;
const PURPOSES = `${ONE}/purposes`;
const PURPOSE = `${PURPOSES}/:label`;
const errors = CHANGE_ERRORS;

export const listRoutesContracts = mirrorForAllOwners({
  method: "GET",
  path: ALL,
  operationId: "listRoutes",
  summary: "List routes",
  description: "Ordered by id.",
  query: routeQuery,
  responses: { 200: json("A page of routes.", routeList) },
  errors: [],
});

export const postRouteContracts = mirrorForAllOwners({
  method: "POST",
  path: ALL,
  operationId: "createRoute",
  summary: "Create a route",
  description:
    "Validated like the configuration file, and stored as a draft until it is published. A target whose model has ended, or ends in fewer than 30 days, is refused unless `confirm_ending` is sent (`details.reason` `model_ending`, with date, source and replacements). A workspace's route may name its own and shared connections, and is visible to this workspace only.",
  requestBody: { json: routeRequest },
  responses: { 201: jsonWithEtag("The route.", routeView) },
  errors: ["CONFLICT", "BODY_TOO_LARGE"],
});

export const getRouteContracts = mirrorForAllOwners({
  method: "GET",
  path: ONE,
  operationId: "getRoute",
  summary: "Get a route",
  responses: { 200: jsonWithEtag("The route.", routeView) },
  errors: ["NOT_FOUND"],
});

export const putRouteContracts = mirrorForAllOwners({
  method: "PUT",
  path: ONE,
  operationId: "reviseRoute",
  summary: "Create a new version of a route",
  description:
    "A complete draft that changes nothing until it is published. Targets whose model ends are refused as in a new route. Versions are numbered and immutable.",
  requestBody: { json: routeRequest },
  headers: requiredMatch,
  responses: { 200: jsonWithEtag("The route.", routeView) },
  errors: [...errors, "PRECONDITION_REQUIRED"],
});

export const publishRouteContracts = mirrorForAllOwners({
  method: "POST",
  path: `${ONE}/publish`,
  operationId: "publishRoute",
  summary: "Publish a version of a route",
  description:
    "Validated again against the current state. Targets whose model ends are refused as in a new route, unless `confirm_ending` is sent. New requests use it in every process within 5 s; accepted jobs keep their version. A request's record contains its version.",
  requestBody: { json: versionChoice },
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The route.", routeView) },
  errors,
});

export const rollBackRouteContracts = mirrorForAllOwners({
  method: "POST",
  path: `${ONE}/roll-back`,
  operationId: "rollBackRoute",
  summary: "Roll a route back to an earlier published version",
  description: "Targets whose model ends are refused as in a new route, unless `confirm_ending` is sent.",
  requestBody: { json: versionChoice },
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The route.", routeView) },
  errors,
});

export const deleteRouteContracts = mirrorForAllOwners({
  method: "DELETE",
  path: ONE,
  operationId: "deleteRoute",
  summary: "Delete a route that no app, key or purpose uses",
  description: "Accepted jobs continue. A route recreated under its id continues the version numbers.",
  headers: optionalMatch,
  responses: { 200: json("Deleted.", deletedView) },
  errors,
});

export const listRouteVersionsContracts = mirrorForAllOwners({
  method: "GET",
  path: VERSIONS,
  operationId: "listRouteVersions",
  summary: "List versions of a route",
  query: routeQuery,
  responses: { 200: json("A page of versions.", routeVersionList) },
  errors: ["NOT_FOUND"],
});

export const getRouteVersionContracts = mirrorForAllOwners({
  method: "GET",
  path: `${VERSIONS}/:version`,
  operationId: "getRouteVersion",
  summary: "Get a version of a route",
  responses: { 200: json("The version.", routeVersionView) },
  errors: ["NOT_FOUND"],
});

export const listPurposesContracts = mirrorForAllOwners({
  method: "GET",
  path: PURPOSES,
  operationId: "listPurposes",
  summary: "List a route's published purposes",
  responses: { 200: jsonWithEtag("Its purposes.", purposeList) },
  errors: ["NOT_FOUND", "CONFLICT"],
});

export const putPurposeContracts = mirrorForAllOwners({
  method: "PUT",
  path: PURPOSE,
  operationId: "putPurpose",
  summary: "Create or update a purpose of a route",
  description:
    "`is_enabled` and `is_published` switch it. Creates a version from the published one and publishes it at once; an existing draft does not include it.",
  requestBody: { json: purposeSection },
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The route's purposes.", purposeList) },
  errors,
});

export const deletePurposeContracts = mirrorForAllOwners({
  method: "DELETE",
  path: PURPOSE,
  operationId: "deletePurpose",
  summary: "Delete a purpose of a route",
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The remaining purposes.", purposeList) },
  errors,
});

export const ROUTE_ENDPOINTS = [
  listRoutesContracts,
  postRouteContracts,
  getRouteContracts,
  putRouteContracts,
  publishRouteContracts,
  rollBackRouteContracts,
  deleteRouteContracts,
  listRouteVersionsContracts,
  getRouteVersionContracts,
  listPurposesContracts,
  putPurposeContracts,
  deletePurposeContracts,
];
