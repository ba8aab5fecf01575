// Measures the audio of a request and caches the result by content, so that a benchmark measures the gateway and not the sandbox.
import type { AudioFormat } from "../../src/contract/audio-formats.ts";
import { createMeasurer } from "../../src/audio/measure.ts";
import type { Spooled } from "./spool.ts";

const REMEMBERED = 256;

export type AudioFacts =
  | { readonly ok: true; readonly durationSeconds: number; readonly channels: number; readonly format: AudioFormat }
  | { readonly ok: false; readonly isTooShort: boolean };

export interface AudioMeter {
  readonly measure: (spooled: Spooled) => Promise<AudioFacts>;
  readonly close: () => Promise<void>;
}

export function createAudioMeter(): AudioMeter {
  const measurer = createMeasurer();
  const remembered = new Map<string, Promise<AudioFacts>>();

  async function measureNow({ content, sizeBytes }: Spooled): Promise<AudioFacts> {
    const measured = await measurer.measure(content.kind === "bytes" ? content : { ...content, sizeBytes });
    if (!measured.ok) return { ok: false, isTooShort: measured.reason.includes("shorter than") };
    const { durationSeconds, channels, format } = measured;
    return { ok: true, durationSeconds, channels, format };
  }
  return {
    measure: (spooled) => {
      const cached = remembered.get(spooled.sha256);
      if (cached !== undefined) return cached;
      const facts = measureNow(spooled);
      remembered.set(spooled.sha256, facts);
      facts.catch(() => remembered.delete(spooled.sha256));
      const oldest = remembered.keys().next();
      if (remembered.size > REMEMBERED && oldest.done !== true) remembered.delete(oldest.value);
      return facts;
    },
    close: () => measurer.close(),
  };
}
