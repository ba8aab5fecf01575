// Calls the gateway as an application does, over a real socket, and validates every answer against its published schema.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { ENDPOINTS } from "../../src/contract/endpoints/endpoints.ts";
import { errorBody } from "../../src/contract/error-body.ts";
import { ERRORS } from "../../src/contract/errors.ts";
import {
  routingDecision,
  type TranscriptionEnvelope,
  transcriptionEnvelope,
} from "../../src/contract/transcription/transcription-envelope.ts";
import { fixture } from "../audio/build-audio.ts";
import { KEY } from "./gateway.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed if it is JSON. */
  readonly json: unknown;
  /** `error.code` of an error body, else null. */
  readonly code: string | null;
}

export interface TranscriptionCall {
  /** Default: `/v1/transcription`. */
  readonly path?: string;
  readonly key?: string;
  readonly file?: Uint8Array;
  readonly fileName?: string;
  readonly fileType?: string;
  /** A list repeats the field. */
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly signal?: AbortSignal;
}

/** Seven seconds of real speech: mono WAV. */
export const speech = (): Uint8Array => fixture("speech-16k.wav");

/** `POST /v1/transcription` as a form. Default file: `speech()`. */
export async function postForm(origin: string, call: TranscriptionCall = {}): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(call.fields ?? {})) {
    for (const each of typeof value === "string" ? [value] : value) form.append(name, each);
  }
  const bytes = new Uint8Array(call.file ?? speech());
  form.append(
    "file",
    new Blob([bytes], { type: call.fileType ?? "application/octet-stream" }),
    call.fileName ?? "audio",
  );
  return send(`${origin}${call.path ?? "/v1/transcription"}${call.query ?? ""}`, {
    method: "POST",
    headers: { ...authorization(call.key), ...call.headers },
    body: form,
    signal: call.signal ?? null,
  });
}

/** `POST /v1/transcription` as JSON; `body` is the whole document. */
export async function postJson(
  origin: string,
  body: unknown,
  call: Omit<TranscriptionCall, "fields" | "file"> = {},
): Promise<Answer> {
  return send(`${origin}${call.path ?? "/v1/transcription"}${call.query ?? ""}`, {
    method: "POST",
    headers: { ...authorization(call.key), "content-type": "application/json", ...call.headers },
    body: JSON.stringify(body),
    signal: call.signal ?? null,
  });
}

export async function get(origin: string, path: string, key: string | null = KEY): Promise<Answer> {
  return send(`${origin}${path}`, { headers: key === null ? {} : authorization(key) });
}

/** The answer of a 200; fails with the error otherwise. */
export function envelopeOf(answer: Answer): TranscriptionEnvelope {
  assert.equal(answer.status, 200, answer.text);
  return transcriptionEnvelope.parse(answer.json);
}

export function detailsOf(answer: Answer): Readonly<Record<string, unknown>> {
  return errorBody.parse(answer.json).error.details ?? {};
}

export async function send(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const json: unknown = isJson ? JSON.parse(text) : null;
  const code = response.status >= 400 ? checkError(response, json) : null;
  if (response.status === 200 && isJson && /\/v1\/(?:transcription|translation)(?:\?|$)/u.test(url)) checkSuccess(json);
  assert.match(response.headers.get("x-request-id") ?? "", /^req_[0-9a-z]{26}$/);
  return { status: response.status, headers: response.headers, text, json, code };
}

/** A `POST` that declares a body but never sends it. */
export async function announce(origin: string, path: string, type: string, sizeBytes: number) {
  const headers = { ...authorization(), "content-type": type, "content-length": String(sizeBytes) };
  const announced = request(`${origin}${path}`, { method: "POST", headers });
  announced.flushHeaders();
  const [reply] = (await once(announced, "response")) as [IncomingMessage];
  const { error } = errorBody.parse(await json(reply));
  announced.destroy();
  return { status: reply.statusCode, code: error.code, retryable: error.retryable };
}

/** Checks that body, status and the three forms of retryability match the catalogue [errors.retryable-views]. */
function checkError(response: Response, json: unknown): string {
  const { error } = errorBody.parse(json);
  const entry = ERRORS[error.code];
  assert.equal(response.status, entry.status, error.code);
  assert.equal(error.type, entry.type);
  assert.equal(response.headers.get("x-should-retry"), String(error.retryable));
  assert.equal(response.headers.has("retry-after"), error.retryable);
  assert.equal(error.request_id, response.headers.get("x-request-id"));
  return error.code;
}

function checkSuccess(json: unknown): void {
  const isDecision =
    typeof json === "object" && json !== null && "object" in json && json.object === "routing.decision";
  (isDecision ? routingDecision : transcriptionEnvelope).parse(json);
}

function authorization(key: string = KEY): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** The documented errors of an endpoint, for tests that compare answers with the published contract. */
export function documentedErrors(method: string, path: string): readonly string[] {
  return ENDPOINTS.find((contract) => contract.method === method && contract.path === path)?.errors ?? [];
}
