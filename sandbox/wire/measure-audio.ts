// Measures the audio of a request and caches the result by content, so that a benchmark measures the gateway and not the sandbox.
import type { AudioFormat } from "../../src/contract/transcription/audio-formats.ts";
import { createMeasurer } from "../../src/audio/measure.ts";
import { readSampleScript } from "../sample-script.ts";
import type { SimulatedWord } from "../simulate.ts";
import type { Spooled } from "./spool.ts";

const REMEMBERED = 256;

export type AudioFacts =
  | {
      readonly ok: true;
      readonly durationSeconds: number;
      readonly channels: number;
      readonly format: AudioFormat;
      /** What is said. Null: unknown, as of every recording but the bundled sample. */
      readonly script: readonly SimulatedWord[] | null;
    }
  | { readonly ok: false; readonly isTooShort: boolean };

export interface AudioMeter {
  /** `recording`: the SHA-256 of the recording that the audio was decoded from, if it is known. */
  readonly measure: (spooled: Spooled, recording?: string) => Promise<AudioFacts>;
  readonly close: () => Promise<void>;
}

export function createAudioMeter(): AudioMeter {
  const measurer = createMeasurer();
  const remembered = new Map<string, Promise<AudioFacts>>();

  async function measureNow({ content, sizeBytes }: Spooled, recording: string): Promise<AudioFacts> {
    const measured = await measurer.measure(content.kind === "bytes" ? content : { ...content, sizeBytes });
    if (!measured.ok) return { ok: false, isTooShort: measured.reason.includes("shorter than") };
    const { durationSeconds, channels, format } = measured;
    return { ok: true, durationSeconds, channels, format, script: await readSampleScript(recording) };
  }
  return {
    measure: (spooled, recording = spooled.sha256) => {
      const key = `${spooled.sha256} ${recording}`;
      const cached = remembered.get(key);
      if (cached !== undefined) return cached;
      const facts = measureNow(spooled, recording);
      remembered.set(key, facts);
      facts.catch(() => remembered.delete(key));
      const oldest = remembered.keys().next();
      if (remembered.size > REMEMBERED && oldest.done !== true) remembered.delete(oldest.value);
      return facts;
    },
    close: () => measurer.close(),
  };
}
