// A process of the benchmark of local models that calls the engine directly: loads one model, and decodes the samples that it is sent, piece by piece.
import { MPEGDecoder } from "mpg123-decoder";
import type { EngineConfig } from "../../src/providers/local/engine/engine-config.ts";
import { loadSherpa } from "../../src/providers/local/engine/sherpa.ts";
import { childArgument, tellParent } from "../measure/child.ts";

export interface DirectOrder {
  /** Pieces of one recording, as the gateway cuts it. */
  readonly pieces: readonly Int16Array[];
  /** Decoded first, by the decoder that the gateway has. Null: there are samples already. */
  readonly mpeg: Uint8Array | null;
}

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
process.on("message", (order: DirectOrder) => {
  void decode(order).then((tookMs) => tellParent({ tookMs } satisfies DirectAnswer));
});
tellParent({ ready: true });

async function decode({ pieces, mpeg }: DirectOrder): Promise<number> {
  const beganMs = performance.now();
  if (mpeg !== null) await decodeMpeg(mpeg);
  for (const piece of pieces) {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples: toFloats(piece), sampleRate: RATE });
    await recognizer.decodeAsync(stream);
  }
  return performance.now() - beganMs;
}

async function decodeMpeg(file: Uint8Array): Promise<void> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  decoder.decode(file);
  decoder.free();
}

function toFloats(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index += 1) floats[index] = (samples[index] ?? 0) / 32_768;
  return floats;
}
