// The Model Context Protocol tools that a language model may call, for both transports: they use the gateway with the user's key. Tools that change
// something are offered only if the user asked for them; transcriptions are billed as usual.
import {
  type CallToolResult,
  McpServer,
  type ReadResourceResult,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { z } from "zod";
import { keyDescription } from "../contract/account.ts";
import { postJobContract } from "../contract/endpoints/endpoint-jobs.ts";
import { postTranscriptionContract } from "../contract/endpoints/endpoint-transcription.ts";
import { parseIgnoringUnknownKeys } from "../lib/json/parse-ignoring-unknown-keys.ts";
import { asRecord, asString } from "../lib/json/json-guards.ts";
import { documentOf, jobParts, jsonPart, type Parts, transcriptParts } from "./tool-answers.ts";
import { type Recording, RefusedToolCall, type ToolCall, type ToolGateway } from "./tool-gateway.ts";
import { jobInput, requestInput, submitInput, transcribeInput, waitedJobInput } from "./tool-inputs.ts";

const READS = { readOnlyHint: true, openWorldHint: false };
const CALLS_OUT = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };

export interface ToolServerOptions {
  /** Whether the tools to submit and cancel jobs are offered. */
  readonly offersJobs: boolean;
}

export function makeToolServer(gateway: ToolGateway, { offersJobs }: ToolServerOptions): McpServer {
  const server = new McpServer(
    { name: "patchbay", version: gateway.version },
    // The lists never change while the process runs, so no client needs to subscribe.
    { capabilities: { tools: { listChanged: false }, resources: { listChanged: false } } },
  );
  addTranscription(server, gateway);
  addLookUps(server, gateway);
  addTranscript(server, gateway);
  if (offersJobs) addJobChanges(server, gateway);
  return server;
}

function addTranscription(server: McpServer, gateway: ToolGateway): void {
  server.registerTool(
    "transcribe_audio",
    {
      description:
        "Transcribe a recording synchronously. It is charged according to the key's route; `dry_run` returns the routing decision at no cost. Use a job for recordings longer than a few minutes.",
      inputSchema: transcribeInput(gateway.readsFiles),
      annotations: CALLS_OUT,
    },
    answering(gateway, async (input: Recording, context: ServerContext) =>
      transcriptParts(await send(gateway, postTranscriptionContract.path, input, context)),
    ),
  );
}

function addLookUps(server: McpServer, gateway: ToolGateway): void {
  server.registerTool(
    "list_purposes",
    { description: "List the values that `purpose` accepts with this key.", annotations: READS },
    answering(gateway, async (context: ServerContext) => {
      const described = parseIgnoringUnknownKeys(keyDescription, await ask(gateway, { path: "/v1/me" }, context));
      if (!described.success)
        throw new RefusedToolCall(["The answer is not a key description that this version supports."]);
      return [await jsonPart(described.data.purposes)];
    }),
  );
  server.registerTool(
    "explain_request",
    {
      description:
        "Explain the routing of a request: its parameters, each target with the reason why it was used or skipped, each call and its cost.",
      inputSchema: requestInput,
      annotations: READS,
    },
    answering(gateway, async ({ request_id: id }: z.output<typeof requestInput>, context: ServerContext) => [
      await jsonPart(await ask(gateway, { path: `/v1/requests/${encodeURIComponent(id)}` }, context)),
    ]),
  );
  server.registerTool(
    "get_job",
    {
      description: "Get the state of a transcription job, and its transcript once it has succeeded.",
      inputSchema: waitedJobInput,
      annotations: READS,
    },
    answering(gateway, async ({ job_id: id, wait_seconds: wait = 0 }: z.output<typeof waitedJobInput>, context) => {
      const found = asRecord(await ask(gateway, { path: `${jobPath(id)}?wait=${wait}` }, context));
      return jobParts({ ...found, result: null }, await resultOf(gateway, found, context));
    }),
  );
}

/** Null: no result, or an expired one. */
async function resultOf(
  gateway: ToolGateway,
  { result = null, result_url: elsewhere }: Readonly<Record<string, unknown>>,
  context: ServerContext,
): Promise<unknown> {
  const path = asString(elsewhere);
  if (result !== null || path === null) return result;
  // Only a path on the gateway itself: the key is sent to no other host.
  if (!path.startsWith("/v1/")) throw new RefusedToolCall(["The result's address does not belong to the gateway."]);
  return ask(gateway, { path }, context);
}

/** Precedes a plain text; other answers contain a field or a warning. */
const SIMULATED = "Simulated response. No provider was called.";

function addTranscript(server: McpServer, gateway: ToolGateway): void {
  server.registerResource(
    "transcript",
    new ResourceTemplate("patchbay://jobs/{job}/transcript", { list: undefined }),
    { description: "The transcript of a job that has succeeded.", mimeType: "text/plain" },
    async (uri, { job: id }, { mcpReq }): Promise<ReadResourceResult> => {
      try {
        const call = { path: `${jobPath(String(id))}?format=text`, accept: "*/*" };
        const { text, isSimulated } = await gateway.ask(call, mcpReq.signal);
        const marked = isSimulated ? `${SIMULATED}\n\n${text}` : text;
        return { contents: [{ uri: uri.href, mimeType: "text/plain", text: marked }] };
      } catch (error) {
        throw new Error(wordsOf(gateway, error), { cause: error });
      }
    },
  );
}

function addJobChanges(server: McpServer, gateway: ToolGateway): void {
  server.registerTool(
    "submit_transcription_job",
    {
      description:
        "Transcribe a long recording as a job that continues after this conversation; read it with `get_job`.",
      inputSchema: submitInput(gateway.readsFiles),
      annotations: CALLS_OUT,
    },
    answering(gateway, async (input: Recording, context: ServerContext) => [
      await jsonPart(await send(gateway, postJobContract.path, input, context)),
    ]),
  );
  server.registerTool(
    "cancel_job",
    {
      description: "Cancel a job. Work done so far may be charged.",
      inputSchema: jobInput,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    answering(gateway, async ({ job_id: id }: z.output<typeof jobInput>, context: ServerContext) => [
      await jsonPart(await ask(gateway, { method: "DELETE", path: jobPath(id) }, context)),
    ]),
  );
}

async function ask(gateway: ToolGateway, call: ToolCall, { mcpReq }: ServerContext): Promise<unknown> {
  return documentOf(gateway, await gateway.ask(call, mcpReq.signal), mcpReq.signal);
}

async function send(
  gateway: ToolGateway,
  path: string,
  recording: Recording,
  { mcpReq }: ServerContext,
): Promise<unknown> {
  const answer = await gateway.send(path, recording, mcpReq.signal);
  // The id that `explain_request` needs.
  return { ...asRecord(await documentOf(gateway, answer, mcpReq.signal)), request_id: answer.requestId };
}

/** A refusal is returned as the tool's answer, so that the model can act on it. */
function answering<Args extends readonly unknown[]>(
  gateway: ToolGateway,
  work: (...args: Args) => Promise<Parts>,
): (...args: Args) => Promise<CallToolResult> {
  return async (...args) => {
    try {
      return { content: await work(...args) };
    } catch (error) {
      return { isError: true, content: [{ type: "text", text: wordsOf(gateway, error) }] };
    }
  };
}

function wordsOf(gateway: ToolGateway, error: unknown): string {
  return error instanceof RefusedToolCall ? error.message : gateway.onFault(error);
}

function jobPath(id: string): string {
  return `${postJobContract.path}/${encodeURIComponent(id)}`;
}
