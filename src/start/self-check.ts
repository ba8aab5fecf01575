// Transcribes the bundled sample through the public API at a first start, at no cost [configuration.self-check]: recognised by a model on this machine if the
// route has one, otherwise simulated by the sandbox.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { formAround } from "../client/multipart.ts";
import {
  routingDecision,
  transcriptionEnvelope,
  type Warning,
} from "../contract/transcription/transcription-envelope.ts";
import { BY_DEMONSTRATION } from "../providers/local/demonstration.ts";
import type { AppKeys } from "./first-start.ts";

export interface SelfCheck {
  /** Who made the text: a sentence without its full stop. */
  readonly by: string;
  /** The text, or why there is none. */
  readonly result: string;
}

interface Sample {
  readonly address: string;
  readonly path: string;
}

const SIMULATED = "bundled sample transcribed by the sandbox (simulated, no cost)";
const TIMEOUT_MS = 30_000;
const SAMPLE_FILE = { name: "dialogue.mp3", mediaType: "audio/mpeg" };
const FREE_PROVIDERS: ReadonlySet<string | undefined> = new Set(["local", "sandbox"]);

/** A failure does not stop the gateway. */
export async function selfCheck(address: string, path: string, keys: AppKeys): Promise<SelfCheck> {
  const sample = { address, path };
  try {
    const model = await freeLocalModel(sample, keys.appKey);
    return await transcribeSample(sample, model === null ? keys.selfCheckKey : keys.appKey, model);
  } catch (error) {
    return { by: "bundled sample", result: `FAILED: ${error instanceof Error ? error.message : "no answer"}` };
  }
}

/** The model on this machine that the app's key would use. Null: another provider could be called, so a test key is used instead. */
async function freeLocalModel(sample: Sample, key: string): Promise<string | null> {
  const { body } = await send(sample, key, { dry_run: "true" });
  const { data } = routingDecision.safeParse(body);
  const eligible = data?.candidates.filter((each) => each.eligible) ?? [];
  const [first] = eligible;
  if (first?.provider !== "local" || !eligible.every(({ provider }) => FREE_PROVIDERS.has(provider))) return null;
  return first.model ?? null;
}

async function transcribeSample(sample: Sample, key: string, model: string | null): Promise<SelfCheck> {
  const { status, body } = await send(sample, key, {});
  const { data } = transcriptionEnvelope.safeParse(body);
  if (data === undefined)
    return { by: model === null ? SIMULATED : "bundled sample", result: `FAILED with HTTP ${status}` };
  return { by: madeBy(data.warnings, model), result: `${data.content} (${data.duration_seconds} s measured)` };
}

function madeBy(warnings: readonly Warning[], model: string | null): string {
  if (model === null || warnings.some(({ code }) => code === "SIMULATED_PROVIDER")) return SIMULATED;
  const isDemonstration = warnings.some(({ code }) => code === "DEMONSTRATION_MODEL");
  return `bundled sample recognised ${isDemonstration ? BY_DEMONSTRATION : `on this machine by ${model}`}`;
}

/** Not `fetch`, which compiles an HTTP parser of its own in WebAssembly that the process then keeps. */
async function send(
  { address, path }: Sample,
  key: string,
  fields: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { contentType, head, tail } = formAround(fields, SAMPLE_FILE, randomUUID());
  const body = Buffer.concat([Buffer.from(head), await readFile(path), Buffer.from(tail)]);
  const call = request(`${address}/v1/transcription`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": contentType },
    agent: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answered = once(call, "response") as Promise<[IncomingMessage]>;
  call.end(body);
  const [response] = await answered;
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
}
