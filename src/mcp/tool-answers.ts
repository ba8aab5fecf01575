// Formats an MCP tool's answer: the transcript's text separate from its other fields, or a link if the transcript is long.
import type { CallToolResult } from "@modelcontextprotocol/server";
import { jsonBytes } from "../lib/json/write-json.ts";
import { asRecord, asString } from "../lib/json/json-guards.ts";
import { RefusedToolCall, type ToolAnswer, type ToolGateway } from "./tool-gateway.ts";

export type Parts = CallToolResult["content"];

/** A longer transcript of a job is returned as a link, which the client may fetch. */
const LARGE_CHARACTERS = 20_000;

export async function documentOf(
  { parse }: Pick<ToolGateway, "parse">,
  { text }: ToolAnswer,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await parse(text, signal);
  } catch (cause) {
    throw new RefusedToolCall(["The answer is not JSON; is a gateway at this address?"], { cause });
  }
}

/** The text and the other fields. A routing decision has no text. */
export async function transcriptParts(document: unknown): Promise<Parts> {
  const { content, ...rest } = asRecord(document);
  const text = asString(content);
  return text === null ? [await jsonPart(document)] : [{ type: "text", text }, await jsonPart(rest)];
}

/** `result`: null until there is one. The other fields are returned together with the link, too. */
export async function jobParts(found: Readonly<Record<string, unknown>>, result: unknown): Promise<Parts> {
  if (result === null) return [await jsonPart(found)];
  const { content, warnings } = asRecord(result);
  if ((asString(content) ?? "").length <= LARGE_CHARACTERS)
    return [await jsonPart(found), ...(await transcriptParts(result))];
  const id = asString(found["job_id"]) ?? "";
  const uri = `patchbay://jobs/${encodeURIComponent(id)}/transcript`;
  return [
    await jsonPart({ ...found, warnings }),
    { type: "resource_link", uri, name: `transcript of ${id}`, mimeType: "text/plain" },
  ];
}

export async function jsonPart(document: unknown): Promise<Parts[number]> {
  return { type: "text", text: (await jsonBytes(document)).toString() };
}
