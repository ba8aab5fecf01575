// Routes and their purposes in the administration's API: every change is a version, and one of them is published [admin.route-versions].
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
import { everywhere } from "./set-up/everywhere.ts";
import { purposeSection, routeSection } from "./set-up/route.ts";
import { deletedView } from "./workspaces.ts";

const definition = z
  .record(z.string(), z.unknown())
  .describe("As the configuration file writes it, defaults filled in.");

export const routeView = z.strictObject({
  object: z.literal("route"),
  id: z.string(),
  version: z.int().nullable().describe("The published version, which serves; null: nothing was published yet."),
  definition: definition.nullable().describe("Of the published version."),
  previous_version: z.int().nullable().describe("What served before: where a roll-back leads."),
  draft: z
    .strictObject({ version: z.int(), definition })
    .nullable()
    .describe("The latest version, where it never served. A draft serves nobody."),
  managed_by: managedBy,
  created_at: time,
  updated_at: time,
});
export type RouteView = z.infer<typeof routeView>;

export const routeVersionView = z.strictObject({
  object: z.literal("route_version"),
  id: z.string().describe("The route's."),
  version: z.int(),
  state: z.enum(["draft", "live", "retired"]),
  definition,
  created_at: time,
  actor_key_id: z.string().nullable().describe("Null: the configuration file."),
  published_at: time.nullable().describe("When it served first."),
});
export type RouteVersionView = z.infer<typeof routeVersionView>;

const purposeView = z.strictObject({ object: z.literal("purpose"), ...boundPurpose.shape });

export const purposeList = z.strictObject({
  object: z.literal("list"),
  version: z.int().describe("The published version of the route that publishes them."),
  data: z.array(purposeView),
});
export type PurposeList = z.infer<typeof purposeList>;

export const routeQuery = z.object(pageFields);
/** What the column that counts them can hold. */
const MOST_VERSIONS = 2_147_483_647;

export const versionChoice = z.strictObject({
  version: z
    .int()
    .min(1)
    .max(MOST_VERSIONS)
    .nullable()
    .default(null)
    .describe("Absent: the latest; of a roll-back, the one before."),
});

const ALL = "/routes";
const ONE = `${ALL}/:route_id`;
const VERSIONS = `${ONE}/versions`;
const PURPOSES = `${ONE}/purposes`;
const PURPOSE = `${PURPOSES}/:label`;
const errors = CHANGE_ERRORS;

export const listRoutesContracts = everywhere({
  method: "GET",
  path: ALL,
  operationId: "listRoutes",
  summary: "Routes",
  description: "By id.",
  query: routeQuery,
  responses: { 200: json("A page of routes.", listOf(routeView)) },
  errors: [],
});

export const postRouteContracts = everywhere({
  method: "POST",
  path: ALL,
  operationId: "createRoute",
  summary: "Make a route",
  description:
    "Judged as the configuration file is, and kept as a draft: it serves from the moment it is published. A workspace's route may name its own connections and the platform's, and is visible to this workspace alone.",
  requestBody: { json: routeSection },
  responses: { 201: jsonWithEtag("The route.", routeView) },
  errors: ["CONFLICT", "BODY_TOO_LARGE"],
});

export const getRouteContracts = everywhere({
  method: "GET",
  path: ONE,
  operationId: "getRoute",
  summary: "One route",
  responses: { 200: jsonWithEtag("The route.", routeView) },
  errors: ["NOT_FOUND"],
});

export const putRouteContracts = everywhere({
  method: "PUT",
  path: ONE,
  operationId: "reviseRoute",
  summary: "Write a new version of a route",
  description: "A draft, whole, that changes nothing until it is published. Versions are numbered and never change.",
  requestBody: { json: routeSection },
  headers: requiredMatch,
  responses: { 200: jsonWithEtag("The route.", routeView) },
  errors: [...errors, "PRECONDITION_REQUIRED"],
});

export const publishRouteContracts = everywhere({
  method: "POST",
  path: `${ONE}/publish`,
  operationId: "publishRoute",
  summary: "Let a version of a route serve",
  description:
    "Judged again by what there is now. The next request runs on it, on every process within 5 s; jobs that were accepted keep the version they were accepted on. A request's record names its version.",
  requestBody: { json: versionChoice },
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The route.", routeView) },
  errors,
});

export const rollBackRouteContracts = everywhere({
  method: "POST",
  path: `${ONE}/roll-back`,
  operationId: "rollBackRoute",
  summary: "Let an earlier published version of a route serve again",
  requestBody: { json: versionChoice },
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The route.", routeView) },
  errors,
});

export const deleteRouteContracts = everywhere({
  method: "DELETE",
  path: ONE,
  operationId: "deleteRoute",
  summary: "Remove a route that no app, key or purpose names",
  description: "Jobs that were accepted on it go on. A route made anew under its id counts its versions on.",
  headers: optionalMatch,
  responses: { 200: json("It is gone.", deletedView) },
  errors,
});

export const listRouteVersionsContracts = everywhere({
  method: "GET",
  path: VERSIONS,
  operationId: "listRouteVersions",
  summary: "Versions of a route",
  query: routeQuery,
  responses: { 200: json("A page of versions.", listOf(routeVersionView)) },
  errors: ["NOT_FOUND"],
});

export const getRouteVersionContracts = everywhere({
  method: "GET",
  path: `${VERSIONS}/:version`,
  operationId: "getRouteVersion",
  summary: "One version of a route",
  responses: { 200: json("The version.", routeVersionView) },
  errors: ["NOT_FOUND"],
});

export const listPurposesContracts = everywhere({
  method: "GET",
  path: PURPOSES,
  operationId: "listPurposes",
  summary: "Purposes that a route publishes",
  responses: { 200: jsonWithEtag("Its purposes.", purposeList) },
  errors: ["NOT_FOUND", "CONFLICT"],
});

export const putPurposeContracts = everywhere({
  method: "PUT",
  path: PURPOSE,
  operationId: "putPurpose",
  summary: "Make or change a purpose that a route publishes",
  description:
    "`is_enabled` and `is_published` switch it. A version of the route, made from the published one and published at once; a draft made before does not hold it.",
  requestBody: { json: purposeSection },
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The route's purposes.", purposeList) },
  errors,
});

export const deletePurposeContracts = everywhere({
  method: "DELETE",
  path: PURPOSE,
  operationId: "deletePurpose",
  summary: "Take a purpose from a route",
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The purposes that are left.", purposeList) },
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
