// A process of the benchmark of local models that calls the engine directly: loads one model, and decodes the samples that it is sent, piece by piece.
import type { EngineConfig } from "../../src/providers/local/engine/engine-config.ts";
import { loadSherpa } from "../../src/providers/local/engine/sherpa.ts";
import { childArgument, tellParent } from "../measure/child.ts";

/** Pieces of one recording, as the gateway cuts it. */
export type DirectOrder = readonly Int16Array[];

export interface DirectAnswer {
  /** Time in the engine alone, without the way between the processes. */
  readonly tookMs: number;
}

const RATE = 16_000;

const { config } = childArgument() as { readonly config: EngineConfig };
if (config.kind !== "offline") throw new TypeError("only models of whole pieces are measured");
const { model, tokens, sampleRate, featureDim, decoding, threads } = config;
const sherpa = await loadSherpa();
const recognizer = await sherpa.OfflineRecognizer.createAsync({
  featConfig: { sampleRate, featureDim },
  modelConfig: { ...model, tokens, numThreads: threads, provider: "cpu", debug: 0 },
  decodingMethod: decoding,
});
process.once("disconnect", () => process.exit(0));
process.on("message", (pieces: DirectOrder) => {
  void decode(pieces).then((tookMs) => tellParent({ tookMs } satisfies DirectAnswer));
});
tellParent({ ready: true });

async function decode(pieces: DirectOrder): Promise<number> {
  const beganMs = performance.now();
  for (const piece of pieces) {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples: toFloats(piece), sampleRate: RATE });
    await recognizer.decodeAsync(stream);
  }
  return performance.now() - beganMs;
}

function toFloats(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index += 1) floats[index] = (samples[index] ?? 0) / 32_768;
  return floats;
}
