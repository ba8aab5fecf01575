// The tools of `patchbay mcp`: what a language model may ask of a gateway, with the key of its user. Nothing that changes something
// there is offered unless `--jobs` says so; a transcription is charged as any other.
import { resolve } from "node:path";
import {
  type CallToolResult,
  McpServer,
  type ReadResourceResult,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { job, jobFields, type Job } from "../contract/jobs.ts";
import { transcriptionFields } from "../contract/transcription.ts";
import { recordOf, textOf } from "./gateway-client.ts";
import { openSession, queryOf, readDocument, understood } from "./gateway-session.ts";
import { jobPath, JOBS_PATH, resultOf } from "./jobs.ts";
import type { McpOptions } from "./mcp-command.ts";
import { packageVersion } from "./package-root.ts";
import { readPurposes } from "./purposes.ts";
import { readText } from "./read-answer.ts";
import { sendAudio } from "./send-audio.ts";
import { CliError, type Terminal } from "./terminal.ts";

/** A longer transcript of a job is linked to, for whoever reads it to fetch or not. */
const LARGE_CHARACTERS = 20_000;

const source = {
  path: z.string().min(1).describe("Audio or video file on this machine.").optional(),
  url: z.string().max(8192).describe("https:// URL that the gateway fetches.").optional(),
};
const ONE_SOURCE = "Give either `path` or `url`.";
const hasOneSource = ({ path, url }: { readonly path?: string | undefined; readonly url?: string | undefined }) =>
  (path === undefined) !== (url === undefined);
/** How an answer is transported is no matter of the tool's caller. */
const transcribeInput = transcriptionFields
  .omit({ mode: true, stream: true })
  .extend(source)
  .refine(hasOneSource, ONE_SOURCE);
const submitInput = jobFields.extend(source).refine(hasOneSource, ONE_SOURCE);
const jobInput = z.strictObject({ job_id: z.string().min(1).max(100) });
const waitedJobInput = jobInput.extend({
  wait_seconds: z.int().min(0).max(60).describe("How long to wait for its end; 0 unless given.").optional(),
});
const requestInput = z.strictObject({
  request_id: z.string().min(1).max(100).describe("`X-Request-Id` of an answer, `id` in a list of requests."),
});

const READS = { readOnlyHint: true, openWorldHint: false };

export function makeMcpServer(options: McpOptions, terminal: Terminal): McpServer {
  const server = new McpServer({ name: "patchbay", version: packageVersion() });
  const session = ({ mcpReq }: ServerContext) => openSession(options, terminal, mcpReq.signal);
  const send = async (
    path: string,
    { path: file, url, ...fields }: z.output<typeof submitInput>,
    { mcpReq }: ServerContext,
  ): Promise<unknown> => {
    const answer = await sendAudio({
      path,
      // Never `-`: stdin is the client's.
      argument: file === undefined ? url : resolve(terminal.cwd, file),
      fields,
      options: { ...options },
      doing: "sending",
      terminal,
      signal: mcpReq.signal,
    });
    // What `explain_request` asks for.
    return { ...recordOf(await readDocument(answer)), request_id: answer.headers.get("x-request-id") };
  };

  server.registerTool(
    "transcribe_audio",
    {
      description:
        "Turn a recording into text, at once. It is charged as the key's route says; `dry_run` asks what would happen, at no cost. For recordings of more than some minutes a job is the better way.",
      inputSchema: transcribeInput,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    },
    answering(async (input, context) => transcriptParts(await send("/v1/transcription", input, context))),
  );
  server.registerTool(
    "list_purposes",
    { description: "The routing labels that `purpose` may name with this key.", annotations: READS },
    answering(async (context: ServerContext) => [json(await readPurposes(session(context)))]),
  );
  server.registerTool(
    "explain_request",
    {
      description:
        "Why a request went where it went: what was asked, each target and why it was or was not chosen, each call, its cost.",
      inputSchema: requestInput,
      annotations: READS,
    },
    answering(async ({ request_id: id }, context) => [
      json(await session(context).document(`/v1/requests/${encodeURIComponent(id)}`)),
    ]),
  );
  server.registerTool(
    "get_job",
    {
      description: "How a transcription job stands, and its transcript once it has succeeded.",
      inputSchema: waitedJobInput,
      annotations: READS,
    },
    answering(async ({ job_id: id, wait_seconds: wait }, context) => {
      const asked = session(context);
      const found = understood(job, await asked.document(`${jobPath(id)}${queryOf({ wait })}`), "job");
      const result = await resultOf(asked, found);
      return jobParts({ ...found, result: null }, result);
    }),
  );
  server.registerResource(
    "transcript",
    new ResourceTemplate("patchbay://jobs/{job}/transcript", { list: undefined }),
    { description: "The transcript of a job that has succeeded.", mimeType: "text/plain" },
    async (uri, { job: id }, context): Promise<ReadResourceResult> => {
      const answer = await session(context).call(`${jobPath(String(id))}?format=text`, { headers: { accept: "*/*" } });
      return { contents: [{ uri: uri.href, mimeType: "text/plain", text: await readText(answer) }] };
    },
  );
  if (options.jobs === true) addJobTools();
  return server;

  function addJobTools(): void {
    server.registerTool(
      "submit_transcription_job",
      {
        description: "Transcribe a long recording as a job, which outlives this conversation; ask `get_job` for it.",
        inputSchema: submitInput,
        annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
      },
      answering(async (input, context) => [json(await send(JOBS_PATH, input, context))]),
    );
    server.registerTool(
      "cancel_job",
      {
        description: "Stop a job. What was done of it by then may be charged.",
        inputSchema: jobInput,
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      },
      answering(async ({ job_id: id }, context) => [
        json(await session(context).document(jobPath(id), { method: "DELETE" })),
      ]),
    );
  }
}

type Parts = CallToolResult["content"];

/** A refusal is a tool's answer, for the model to act on; it names what to do where the gateway does. */
function answering<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<Parts>,
): (...args: Args) => Promise<CallToolResult> {
  return async (...args) => {
    try {
      return { content: await work(...args) };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { isError: true, content: [{ type: "text", text: [error.message, ...error.hints].join("\n") }] };
    }
  };
}

/** The text, and what else is known of it. A routing decision has no text. */
function transcriptParts(document: unknown): Parts {
  const { content, ...rest } = recordOf(document);
  const text = textOf(content);
  return text === null ? [json(document)] : [{ type: "text", text }, json(rest)];
}

export function jobParts(found: Job, result: unknown): Parts {
  if (result === null) return [json(found)];
  const text = textOf(recordOf(result)["content"]) ?? "";
  if (text.length <= LARGE_CHARACTERS) return [json(found), ...transcriptParts(result)];
  const uri = `patchbay://jobs/${encodeURIComponent(found.job_id)}/transcript`;
  return [json(found), { type: "resource_link", uri, name: `transcript of ${found.job_id}`, mimeType: "text/plain" }];
}

function json(document: unknown): Parts[number] {
  return { type: "text", text: JSON.stringify(document) };
}
