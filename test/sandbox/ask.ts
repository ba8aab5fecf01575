// How the sandbox's own tests speak to it: plain fetch, so that no client smooths anything over.
import { wav } from "./wav.ts";

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, or null. */
  readonly json: Record<string, unknown> | null;
}

export async function listen(
  baseUrl: string,
  query: string,
  body: NonNullable<RequestInit["body"]> = wav(2.5),
  headers: Record<string, string> = {},
): Promise<Asked> {
  return read(
    await fetch(`${baseUrl}/v1/listen?${query}`, {
      method: "POST",
      body,
      headers: { authorization: "Token dg-wire", "content-type": "audio/wav", ...headers },
    }),
  );
}

export interface FormOptions {
  readonly audio?: Buffer<ArrayBuffer> | null;
  readonly fileName?: string;
  readonly authorization?: string | null;
  readonly path?: "transcriptions" | "translations";
  readonly signal?: AbortSignal;
}

export async function transcribe(
  baseUrl: string,
  fields: readonly (readonly [string, string])[],
  options: FormOptions = {},
): Promise<Asked> {
  const {
    audio = wav(2.5),
    fileName = "speech.wav",
    authorization = "Bearer sk-wire",
    path = "transcriptions",
    signal,
  } = options;
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  if (audio !== null) form.append("file", new Blob([audio], { type: "audio/wav" }), fileName);
  const response = await fetch(`${baseUrl}/audio/${path}`, {
    method: "POST",
    body: form,
    headers: authorization === null ? {} : { authorization },
    ...(signal === undefined ? {} : { signal }),
  });
  return read(response);
}

async function read(response: Response): Promise<Asked> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** A member of nested JSON by its path, or undefined. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
