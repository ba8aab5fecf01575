// Endpoints about the gateway itself: health [api.healthz], readiness [api.readyz], and its own documentation [api.docs]. None needs a key.
import { z } from "zod";
import type { EndpointContract } from "./endpoint.ts";

export const health = z.strictObject({ status: z.literal("ok") }).describe("The process runs and answers.");

export const readiness = z
  .strictObject({
    status: z.enum(["ready", "not_ready"]),
    checks: z
      .record(z.string(), z.enum(["ok", "failed"]))
      .describe("Each thing the process needs before it can serve, by name. Providers are never among them."),
  })
  .describe("Whether this process should be sent requests.");
export type Readiness = z.infer<typeof readiness>;

export const getHealthContract: EndpointContract = {
  method: "GET",
  path: "/healthz",
  operationId: "getHealth",
  summary: "Is the process alive?",
  description: "Answers without any I/O. For liveness probes.",
  auth: "none",
  responses: { 200: { description: "Alive.", content: { "application/json": health } } },
  errors: [],
};

export const getReadinessContract: EndpointContract = {
  method: "GET",
  path: "/readyz",
  operationId: "getReadiness",
  summary: "Should this process be sent requests?",
  description: "503 while the database or its schema is not ready, and from the first moment of a shutdown.",
  auth: "none",
  responses: {
    200: { description: "Ready.", content: { "application/json": readiness } },
    503: { description: "Not ready.", content: { "application/json": readiness } },
  },
  errors: [],
};

export const getMetricsContract: EndpointContract = {
  method: "GET",
  path: "/metrics",
  operationId: "getMetrics",
  summary: "What this process counts, for Prometheus",
  description:
    "Needs no key: it names routes, providers, models, kinds and outcomes, and holds no id, no address and no word of a caller's. `svc_jobs` and `svc_budgets` are read from the database, and are the same on every process.",
  auth: "none",
  responses: { 200: { description: "Text format 0.0.4.", content: { "text/plain": z.string() } } },
  errors: [],
};

export const getOpenapiContract: EndpointContract = {
  method: "GET",
  path: "/openapi.json",
  operationId: "getOpenapi",
  summary: "This API as an OpenAPI 3.1 document",
  auth: "none",
  responses: {
    200: {
      description: "The document.",
      content: { "application/json": z.looseObject({ openapi: z.literal("3.1.0") }) },
    },
  },
  errors: [],
};

export const getDocsContract: EndpointContract = {
  method: "GET",
  path: "/docs",
  operationId: "getDocs",
  summary: "Every endpoint, for people",
  auth: "none",
  responses: { 200: { description: "A page in HTML.", content: { "text/html": z.string() } } },
  errors: [],
};

export const getPlaygroundContract: EndpointContract = {
  method: "GET",
  path: "/playground",
  operationId: "getPlayground",
  summary: "Try transcription in a browser",
  description:
    "A page that uses this API with a key of yours, which it keeps in the tab: audio to text with every option, the words beside the sound, and why the request went where it went.",
  auth: "none",
  responses: { 200: { description: "A page in HTML.", content: { "text/html": z.string() } } },
  errors: [],
};

export const getPlaygroundFileContract: EndpointContract = {
  method: "GET",
  path: "/playground/:folder/:file",
  operationId: "getPlaygroundFile",
  summary: "What the playground's page loads",
  description: "Its scripts, its style and the bundled sample: a fixed list, which the page names.",
  auth: "none",
  responses: {
    200: {
      description: "The file.",
      content: {
        "text/javascript": z.string(),
        "text/css": z.string(),
        "audio/mpeg": z.string().meta({ format: "binary" }),
      },
    },
  },
  errors: ["NOT_FOUND"],
};

/** The same for modules in a folder of a folder. */
export const getPlaygroundModuleContract: EndpointContract = {
  ...getPlaygroundFileContract,
  path: "/playground/:folder/:subfolder/:file",
  operationId: "getPlaygroundModule",
};

export const getConsoleContract: EndpointContract = {
  method: "GET",
  path: "/console",
  operationId: "getConsole",
  summary: "Administration in a browser",
  description:
    "A page that uses the administration of this listener with a key of yours, which it keeps in the tab: requests and why they went where they went, jobs, deliveries, usage, budgets, keys, connections, routes. The operator's is on the admin listener, a workspace's on the public one.",
  auth: "none",
  responses: { 200: { description: "A page in HTML.", content: { "text/html": z.string() } } },
  errors: [],
};

export const getConsoleFileContract: EndpointContract = {
  method: "GET",
  path: "/console/:folder/:file",
  operationId: "getConsoleFile",
  summary: "What the console's page loads",
  description: "Its scripts and its style: a fixed list, which the page names.",
  auth: "none",
  responses: {
    200: { description: "The file.", content: { "text/javascript": z.string(), "text/css": z.string() } },
  },
  errors: ["NOT_FOUND"],
};

/** The same for modules in a folder of a folder. */
export const getConsoleModuleContract: EndpointContract = {
  ...getConsoleFileContract,
  path: "/console/:folder/:subfolder/:file",
  operationId: "getConsoleModule",
};

export const getLlmsContract: EndpointContract = {
  method: "GET",
  path: "/llms.txt",
  operationId: "getLlms",
  summary: "First requests and every endpoint, for programs that read documentation",
  auth: "none",
  responses: { 200: { description: "Markdown.", content: { "text/plain": z.string() } } },
  errors: [],
};

export const getErrorDocsContract: EndpointContract = {
  method: "GET",
  path: "/docs/errors",
  operationId: "getErrorDocs",
  summary: "Every error code, for people",
  description: "`doc_url` of every error points into this page.",
  auth: "none",
  responses: { 200: { description: "A page in HTML.", content: { "text/html": z.string() } } },
  errors: [],
};
