// Every recording of the fixtures through a whole gateway, once for each carrier of audio; formats.test.ts judges it and docs/formats.md
// shows it.
import { readFileSync } from "node:fs";
import type { AudioFormat } from "../../src/contract/transcription/audio-formats.ts";
import { transcriptionEnvelope } from "../../src/contract/transcription/transcription-envelope.ts";
import { fixture } from "../audio/build-audio.ts";
import { postJson } from "../harness/client.ts";
import { KEY, startGateway } from "../harness/gateway.ts";

export const CARRIERS = ["file", "audio.base64", "audio.data"] as const;
export type Carrier = (typeof CARRIERS)[number];

interface Truth {
  readonly seconds: number;
  readonly tool: string;
  readonly format: AudioFormat;
}

export interface FormatRow extends Truth {
  readonly fileName: string;
  readonly outcomes: Readonly<Record<Carrier, Outcome>>;
}

export interface Outcome {
  readonly status: number;
  /** null unless the status is 200. */
  readonly measuredSeconds: number | null;
  /** The type that the provider received, without parameters. */
  readonly sentType: string | null;
}

export const TRUTH: Readonly<Record<string, Truth>> = JSON.parse(
  readFileSync(new URL("../fixtures/audio/truth.json", import.meta.url), "utf8"),
);

/** Program streams carry no packet times to the sample: 1 %. */
export function toleranceSeconds({ format, seconds }: Truth): number {
  return format === "mpeg" ? seconds / 100 : 0.05;
}

export async function runFormats(): Promise<readonly FormatRow[]> {
  const gateway = await startGateway();
  try {
    const rows: FormatRow[] = [];
    for (const [fileName, truth] of Object.entries(TRUTH)) {
      const outcomes = {} as Record<Carrier, Outcome>;
      for (const carrier of CARRIERS) {
        gateway.sandbox.clearCalls();
        const { status, json } = await send(gateway.origin, carrier, fileName);
        const sentType = gateway.sandbox.calls[0]?.headers["content-type"]?.split(";")[0] ?? null;
        const measuredSeconds = status === 200 ? transcriptionEnvelope.parse(json).usage.audio_seconds : null;
        outcomes[carrier] = { status, measuredSeconds, sentType };
      }
      rows.push({ fileName, ...truth, outcomes });
    }
    return rows;
  } finally {
    await gateway.close();
  }
}

async function send(
  origin: string,
  carrier: Carrier,
  fileName: string,
): Promise<{ readonly status: number; readonly json: unknown }> {
  const bytes = new Uint8Array(fixture(fileName));
  if (carrier !== "file") {
    const member = carrier.slice("audio.".length);
    return postJson(origin, { audio: { [member]: Buffer.from(bytes).toString("base64") } });
  }
  const form = new FormData();
  form.append("file", new Blob([bytes]), fileName);
  const headers = { authorization: `Bearer ${KEY}` };
  const response = await fetch(`${origin}/v1/transcription`, { method: "POST", headers, body: form });
  return { status: response.status, json: await response.json() };
}
