// Schemas and endpoint of POST /mcp: tools of the Model Context Protocol over its Streamable HTTP transport.
import { z } from "zod";
import type { EndpointContract, ResponseContract } from "./endpoints/endpoint.ts";
import { routedHeaders } from "./endpoints/endpoint-transcription.ts";

const version = z.literal("2.0");
const id = z.union([z.string(), z.number()]);

export const mcpMessage = z
  .looseObject({
    jsonrpc: version,
    id: id.describe("Absent: a notification, which is not answered.").optional(),
    method: z.string().describe("`tools/list`, `tools/call`, …").optional(),
    params: z.looseObject({}).optional(),
  })
  .describe("One JSON-RPC 2.0 message. A batch is refused.");

export const mcpError = z.strictObject({
  jsonrpc: version,
  id: id.nullable().optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }),
});
export const mcpAnswer = z.union([z.strictObject({ jsonrpc: version, id, result: z.looseObject({}) }), mcpError]);

export const mcpQuery = z.strictObject({
  tools: z
    .enum(["jobs"])
    .describe("`jobs`: also offer the tools that submit and cancel jobs, to keys with the scope jobs.")
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
  summary: "Call tools over the Model Context Protocol",
  description:
    "Streamable HTTP without sessions, in the revision 2026-07-28 and earlier ones: `transcribe_audio`, `list_purposes`, `explain_request`, `get_job`, and with `?tools=jobs` `submit_transcription_job` and `cancel_job`. A tool sends a request to this API with the same key, which is checked, recorded and charged like any other; a refusal is the tool's answer. If it takes long and `Accept` contains `text/event-stream`, the answer is a stream with one event. The headers are forwarded to the request that transcribes. An `Origin` must be this gateway's own.",
  auth: "key",
  query: mcpQuery,
  requestBody: { json: mcpMessage },
  headers: routedHeaders,
  responses: {
    200: {
      description: "The answer to the message.",
      content: { "application/json": mcpAnswer, "text/event-stream": z.string() },
    },
    202: { description: "The notification was accepted.", content: {} },
    400: refused(
      "An invalid message or an unsupported revision: `-32700` no JSON, `-32600`, `-32602`, `-32020`, `-32021`, `-32022`, or `-32000`.",
    ),
    403: refused("`-32000`: the `Origin` is not this gateway's."),
    404: refused("`-32601`: unknown method."),
  },
  errors: ["BODY_TOO_LARGE", "OVERLOADED", "SHUTTING_DOWN"],
};
