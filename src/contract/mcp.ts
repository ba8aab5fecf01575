// /mcp as callers see it: the tools of the Model Context Protocol over its Streamable HTTP transport.
import { z } from "zod";
import type { EndpointContract, ResponseContract } from "./endpoint.ts";
import { routedHeaders } from "./endpoint-transcription.ts";

const version = z.literal("2.0");
const id = z.union([z.string(), z.number()]);

const mcpMessage = z
  .looseObject({
    jsonrpc: version,
    id: id.describe("Absent: a notification, which has no answer.").optional(),
    method: z.string().describe("`tools/list`, `tools/call`, …").optional(),
    params: z.looseObject({}).optional(),
  })
  .describe("One message of JSON-RPC 2.0. A list of them is refused.")
  .meta({ id: "McpMessage" });

const mcpError = z
  .strictObject({
    jsonrpc: version,
    id: id.nullable().optional(),
    error: z.looseObject({ code: z.int(), message: z.string() }),
  })
  .meta({ id: "McpError" });
const mcpAnswer = z
  .union([z.strictObject({ jsonrpc: version, id, result: z.looseObject({}) }), mcpError])
  .meta({ id: "McpAnswer" });

export const mcpQuery = z.strictObject({
  tools: z
    .enum(["jobs"])
    .describe("`jobs`: offer the tools that submit and cancel jobs too, to keys with the scope jobs.")
    .optional(),
});

const refused = (description: string): ResponseContract => ({
  description,
  content: { "application/json": mcpError },
  headers: { "X-Should-Retry": "Always `false`." },
});

export const postMcpContract: EndpointContract = {
  method: "POST",
  path: "/mcp",
  operationId: "callMcp",
  summary: "Tools for a language model, by the Model Context Protocol",
  description:
    "Streamable HTTP without sessions, in the revision 2026-07-28 and those before it: `transcribe_audio`, `list_purposes`, `explain_request`, `get_job`, and with `?tools=jobs` `submit_transcription_job` and `cancel_job`. What a tool does is a request to this API with the same key, judged, recorded and charged as any; its refusal is the tool's answer. Where that takes long and `Accept` has `text/event-stream`, the answer is its one event. The headers are passed on to the request by which a tool transcribes. An `Origin` must be this gateway's own.",
  auth: "key",
  query: mcpQuery,
  requestBody: { json: mcpMessage },
  headers: routedHeaders,
  responses: {
    200: {
      description: "The answer to the message.",
      content: { "application/json": mcpAnswer, "text/event-stream": z.string() },
    },
    202: { description: "A notification was taken.", content: {} },
    400: refused(
      "No message of a revision that is served: `-32700` no JSON, `-32600`, `-32602`, `-32020`, `-32021`, `-32022`, or `-32000`.",
    ),
    403: refused("`-32000`: the `Origin` is not this gateway's."),
    404: refused("`-32601`: there is no such method."),
  },
  errors: ["BODY_TOO_LARGE", "OVERLOADED", "SHUTTING_DOWN"],
};
