// Declares the endpoints that need no key: health [api.healthz], readiness [api.readyz], metrics, documentation [api.docs], and the files of the playground
// and the console.
import { z } from "zod";
import type { EndpointContract } from "./endpoint.ts";

export const health = z.strictObject({ status: z.literal("ok") }).describe("The process runs and answers.");

export const readiness = z
  .strictObject({
    status: z.enum(["ready", "not_ready"]),
    checks: z
      .record(z.string(), z.enum(["ok", "failed"]))
      .describe("Everything the process requires before it can serve, by name. Providers are never included."),
  })
  .describe("Whether this process should receive requests.");
export type Readiness = z.infer<typeof readiness>;

export const getHealthContract: EndpointContract = {
  method: "GET",
  path: "/healthz",
  operationId: "getHealth",
  summary: "Check that the process is alive",
  description: "Answers without any I/O. For liveness probes.",
  auth: "none",
  responses: { 200: { description: "Alive.", content: { "application/json": health } } },
  errors: [],
};

export const getReadinessContract: EndpointContract = {
  method: "GET",
  path: "/readyz",
  operationId: "getReadiness",
  summary: "Check that this process can serve requests",
  description: "503 while the database or its schema is not ready, and from the start of a shutdown.",
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
  summary: "Metrics of this process for Prometheus",
  description:
    "Requires no key: it contains names of routes, providers, models, kinds and outcomes, but no ids, addresses or contents. `svc_jobs` and `svc_budgets` are read from the database, and are the same in every process.",
  auth: "none",
  responses: { 200: { description: "Text format 0.0.4.", content: { "text/plain": z.string() } } },
  errors: [],
};

export const openapiDocument = z.looseObject({ openapi: z.literal("3.1.0") });

export const getOpenapiContract: EndpointContract = {
  method: "GET",
  path: "/openapi.json",
  operationId: "getOpenapi",
  summary: "This API as an OpenAPI 3.1 document",
  auth: "none",
  responses: {
    200: {
      description: "The document.",
      content: { "application/json": openapiDocument },
    },
  },
  errors: [],
};

const pageInHtml = { description: "A page in HTML.", content: { "text/html": z.string() } };

export const homeState = z.object({
  name: z.literal("patchbay"),
  version: z.string(),
  recognition: z
    .enum(["simulated", "provider"])
    .describe("`simulated`: only the sandbox is connected. `provider`: a shared connection leads to a real provider."),
  playground: z.string(),
  docs: z.string(),
  console: z.string(),
  openapi: z.string(),
});
export type HomeState = z.infer<typeof homeState>;

export const getHomeContract: EndpointContract = {
  method: "GET",
  path: "/",
  operationId: "getHome",
  summary: "Where to go: playground, documentation, console",
  description: "A page for browsers, JSON for everything else.",
  auth: "none",
  responses: {
    200: { description: "The page.", content: { "text/html": z.string(), "application/json": homeState } },
  },
  errors: ["NOT_ACCEPTABLE"],
};

export const getDocsContract: EndpointContract = {
  method: "GET",
  path: "/docs",
  operationId: "getDocs",
  summary: "The documentation in HTML",
  auth: "none",
  responses: { 200: pageInHtml },
  errors: [],
};

/** The address that people type. */
export const getDocsSlashContract: EndpointContract = {
  ...getDocsContract,
  path: "/docs/",
  operationId: "getDocsWithSlash",
};

export const getDocsPageContract: EndpointContract = {
  method: "GET",
  path: "/docs/:page",
  operationId: "getDocsPage",
  summary: "A page of the documentation",
  auth: "none",
  responses: { 200: pageInHtml },
  errors: ["NOT_FOUND"],
};

export const getDocsSectionPageContract: EndpointContract = {
  ...getDocsPageContract,
  path: "/docs/:section/:page",
  operationId: "getDocsSectionPage",
};

export const documentationSection = z.object({
  id: z.string().describe("Path of the section, with its fragment."),
  page: z.string().describe("Title of the page."),
  heading: z.string(),
  content: z.string().describe("Text without markup."),
});
export const documentationSections = z.array(documentationSection);

export const getDocsSearchContract: EndpointContract = {
  method: "GET",
  path: "/docs/search.json",
  operationId: "getDocsSearch",
  summary: "Every section of the documentation, for its search",
  auth: "none",
  responses: {
    200: {
      description: "The sections.",
      content: {
        "application/json": documentationSections,
      },
    },
  },
  errors: [],
};

export const getWebFileContract: EndpointContract = {
  method: "GET",
  path: "/web/:folder/:file",
  operationId: "getWebFile",
  summary: "A file that pages load",
  description: "Scripts, style sheets and libraries, from a fixed list.",
  auth: "none",
  responses: {
    200: { description: "The file.", content: { "text/javascript": z.string(), "text/css": z.string() } },
  },
  errors: ["NOT_FOUND"],
};

export const getPlaygroundContract: EndpointContract = {
  method: "GET",
  path: "/playground",
  operationId: "getPlayground",
  summary: "The playground: try transcription in a browser",
  description:
    "A page that uses this API with your key, which is stored in the tab only: transcription with every option, the words in sync with the audio, and an explanation of the routing.",
  auth: "none",
  responses: { 200: pageInHtml },
  errors: [],
};

export const getPlaygroundFileContract: EndpointContract = {
  method: "GET",
  path: "/playground/:folder/:file",
  operationId: "getPlaygroundFile",
  summary: "A file of the playground",
  description: "Its scripts, its style sheet and the bundled sample, from a fixed list.",
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

/** The same for modules in a nested folder. */
export const getPlaygroundModuleContract: EndpointContract = {
  ...getPlaygroundFileContract,
  path: "/playground/:folder/:subfolder/:file",
  operationId: "getPlaygroundModule",
};

export const getConsoleContract: EndpointContract = {
  method: "GET",
  path: "/console",
  operationId: "getConsole",
  summary: "The console: administration in a browser",
  description:
    "A page that uses the admin API of this listener with your key, which is stored in the tab only: requests with their routing, jobs, deliveries, usage, budgets, keys, connections, routes. The operator's console is on the admin listener, a workspace's on the public one.",
  auth: "none",
  responses: { 200: pageInHtml },
  errors: [],
};

export const getConsoleFileContract: EndpointContract = {
  method: "GET",
  path: "/console/:folder/:file",
  operationId: "getConsoleFile",
  summary: "A file of the console",
  description: "Its scripts and its style sheet, from a fixed list.",
  auth: "none",
  responses: {
    200: { description: "The file.", content: { "text/javascript": z.string(), "text/css": z.string() } },
  },
  errors: ["NOT_FOUND"],
};

/** The same for modules in a nested folder. */
export const getConsoleModuleContract: EndpointContract = {
  ...getConsoleFileContract,
  path: "/console/:folder/:subfolder/:file",
  operationId: "getConsoleModule",
};

export const getLlmsContract: EndpointContract = {
  method: "GET",
  path: "/llms.txt",
  operationId: "getLlms",
  summary: "First requests and all endpoints, for language models",
  auth: "none",
  responses: { 200: { description: "Markdown.", content: { "text/plain": z.string() } } },
  errors: [],
};

export const getErrorDocsContract: EndpointContract = {
  method: "GET",
  path: "/docs/errors",
  operationId: "getErrorDocs",
  summary: "Error reference in HTML",
  description: "`doc_url` of every error links to this page.",
  auth: "none",
  responses: { 200: pageInHtml },
  errors: [],
};
