// Recognises a recording outside a gateway, as its adapter does: decoded to 16-bit samples, cut at silences, with one model [local.verify-transcript].
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Logger } from "pino";
import { createDecoder } from "../../audio/decode/decoder.ts";
import { Undecodable } from "../../audio/decode/pcm.ts";
import { createMeasurer } from "../../audio/measure.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import { CliError } from "../../cli/terminal.ts";
import type { InstalledModel } from "../../local-models/installed-model.ts";
import { ProviderError } from "../../providers/io.ts";
import { buildTranscript, type LocalTranscript } from "../../providers/local/local-transcript.ts";
import { type LocalBody, recogniseRecording } from "../../providers/local/recognise.ts";
import { createRecognisers } from "../../providers/local/recognisers.ts";
import type { SpeechAudio } from "../../providers/provider.ts";

export interface DecodedAgain extends Pick<LocalTranscript, "text" | "words"> {
  /** Null: all channels mixed to one. */
  readonly channel: number | null;
}

export type MeasuredRecording = Pick<
  SpeechAudio,
  "format" | "codec" | "sampleRate" | "channels" | "durationSeconds" | "sizeBytes" | "open"
>;

interface DecodeParts {
  readonly model: InstalledModel;
  readonly isByChannel: boolean;
  /** Null: only WAV and MP3 can be decoded. */
  readonly ffmpeg: string | null;
  /** Of the file that ffmpeg reads. */
  readonly directory: string;
  readonly threads: number;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  readonly signal: AbortSignal;
}

/** Generous, because no request waits for it. */
const MEASURE_MS = 60_000;
const IDLE_MS = 60_000;

export async function measureRecording(path: string): Promise<MeasuredRecording> {
  const facts = await stat(path).catch(() => null);
  if (facts?.isFile() !== true) throw new CliError(EXIT.usage, `${path} is not a readable file.`);
  const measurer = createMeasurer({ killAfterMs: () => MEASURE_MS });
  try {
    const measured = await measurer.measure({ kind: "file", path, sizeBytes: facts.size });
    if (!measured.ok) throw new CliError(EXIT.usage, `The recording ${measured.reason}.`);
    const { format, durationSeconds, channels, codec, sampleRate } = measured;
    const known = { ...(codec === undefined ? {} : { codec }), ...(sampleRate === undefined ? {} : { sampleRate }) };
    return { format, durationSeconds, channels, ...known, sizeBytes: facts.size, open: () => createReadStream(path) };
  } finally {
    await measurer.close();
  }
}

export async function decodeAgain(recording: MeasuredRecording, parts: DecodeParts): Promise<readonly DecodedAgain[]> {
  const { model, isByChannel, threads, logger, signal } = parts;
  const decoder = createDecoder({ ffmpeg: parts.ffmpeg, directory: parts.directory });
  const sampleRate = decoder.rateOf(recording);
  if (sampleRate === null)
    throw new CliError(EXIT.upstream, "The recording cannot be decoded here.", { hints: ["install ffmpeg"] });
  const recognisers = createRecognisers({
    installed: async () => [model],
    isEngineInstalled: () => true,
    threads,
    idleMs: IDLE_MS,
    maxQueueSeconds: recording.durationSeconds,
    maxMemoryBytes: null,
    logger,
  });
  const plan = {
    model: model.name,
    hasWords: model.spec.features.words,
    keyterms: [],
    diarization: false,
    speakers: null,
  };
  const terms = { signal, owner: "verify-transcript", waits: true };
  const local = {
    state: recognisers.state,
    open: (request: Parameters<typeof recognisers.open>[0]) => recognisers.open(request, terms),
  };
  const hear = async (channel: number | null): Promise<DecodedAgain> => {
    const open = () =>
      samplesOf(decoder.decode(recording, { channels: channel === null ? "mono" : "all", signal }), channel);
    const audio = {
      ...recording,
      mediaType: "",
      fileName: "",
      channels: 1,
      sampleRate,
      samplesPerSecond: sampleRate,
      open,
    };
    const { body } = await recogniseRecording(plan, audio, { local });
    const { text, words } = buildTranscript((body as LocalBody).pieces, null);
    return { text, words, channel };
  };
  try {
    const channels = isByChannel ? Array.from({ length: recording.channels }, (_, channel) => channel) : [null];
    const decoded: DecodedAgain[] = [];
    for (const channel of channels) decoded.push(await hear(channel));
    return decoded;
  } catch (error) {
    if (error instanceof Undecodable)
      throw new CliError(EXIT.usage, `The recording cannot be decoded: ${error.reason}.`);
    if (error instanceof ProviderError) throw new CliError(EXIT.upstream, `The engine failed: ${error.message}.`);
    throw error;
  } finally {
    await recognisers.close();
  }
}

async function* samplesOf(
  pcm: ReturnType<ReturnType<typeof createDecoder>["decode"]>,
  channel: number | null,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of pcm.chunks) {
    const samples = channel === null || pcm.channels === 1 ? chunk : channelOf(chunk, channel, pcm.channels);
    const bytes = Buffer.alloc(samples.length * 2);
    for (const [index, sample] of samples.entries()) bytes.writeInt16LE(sample, index * 2);
    yield bytes;
  }
}

function channelOf(frames: Int16Array, channel: number, channels: number): Int16Array {
  return Int16Array.from({ length: frames.length / channels }, (_, index) => frames[index * channels + channel] ?? 0);
}
