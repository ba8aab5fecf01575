// `patchbay verify-transcript`: decodes a recording again with the model of a saved answer and lists the differences [local.verify-transcript].
import { availableParallelism, tmpdir } from "node:os";
import { resolve } from "node:path";
import { EXIT } from "../../cli/exit-codes.ts";
import type { VerifyTranscriptOptions } from "../../cli/operate/verify-transcript-command.ts";
import { packageRoot } from "../../cli/package-root.ts";
import { printJson } from "../../cli/print.ts";
import { readObjectFile } from "../../cli/read-argument.ts";
import { CliError, printLine, type Terminal, write } from "../../cli/terminal.ts";
import { findFfmpeg } from "../../audio/decode/find-ffmpeg.ts";
import {
  type TranscriptionEnvelope,
  transcriptionEnvelope,
} from "../../contract/transcription/transcription-envelope.ts";
import { parseIgnoringUnknownKeys } from "../../lib/json/parse-ignoring-unknown-keys.ts";
import { createLogger } from "../../lib/logger.ts";
import {
  type ComparedWord,
  compareTranscripts,
  type TranscriptDifference,
} from "../../local-models/compare-transcripts.ts";
import type { InstalledModel } from "../../local-models/installed-model.ts";
import { MANIFEST } from "../../local-models/manifest.ts";
import { listInstalled } from "../../local-models/model-store.ts";
import { verifyModel } from "../../local-models/verify-model.ts";
import { demonstrationDirectory, readDemonstration } from "../../providers/local/demonstration.ts";
import { isEngineInstalled } from "../../providers/local/engine/engine-installed.ts";
import { readEngineRuntime } from "../../providers/local/engine/engine-runtime.ts";
import { ENGINE_COMMAND } from "../../providers/local/local-models.ts";
import { decodeAgain, type DecodedAgain, measureRecording } from "./decode-again.ts";
import { type ModelSources, modelSettings } from "./model-command.ts";

type LocalAnswer = TranscriptionEnvelope & { readonly local_model: NonNullable<TranscriptionEnvelope["local_model"]> };

/** Lengths are measured to the millisecond. */
const SAME_LENGTH_SECONDS = 0.0015;

export async function verifyTranscript(
  file: string,
  options: VerifyTranscriptOptions,
  terminal: Terminal,
  signal: AbortSignal,
  { manifest = MANIFEST }: Pick<ModelSources, "manifest">,
): Promise<number> {
  const answer = await readAnswer(file, terminal);
  const { dir } = modelSettings(options, terminal);
  const recording = await measureRecording(resolve(terminal.cwd, options.audio));
  if (Math.abs(recording.durationSeconds - answer.duration_seconds) > SAME_LENGTH_SECONDS)
    throw new CliError(
      EXIT.usage,
      `The recording lasts ${recording.durationSeconds} s, that of the answer lasted ${answer.duration_seconds} s.`,
    );
  if (!isEngineInstalled())
    throw new CliError(EXIT.upstream, "The engine is not installed.", { hints: [`run ${ENGINE_COMMAND}`] });
  const model = await requireModel(answer, dir, manifest, signal);
  const decoded = await decodeAgain(recording, {
    model,
    isByChannel: answer.segments.some(({ channel }) => channel !== null),
    ffmpeg: findFfmpeg(terminal.env["PATH"]),
    directory: tmpdir(),
    threads: Math.max(1, availableParallelism() - 1),
    logger: createLogger({ write: () => undefined }),
    signal,
  });
  const differences = differencesOf(answer, decoded);
  await print({ model: model.name, differences, runtime: compareRuntime(answer) }, options, terminal);
  return differences.length === 0 ? EXIT.ok : EXIT.unexpected;
}

async function readAnswer(file: string, terminal: Terminal): Promise<LocalAnswer> {
  const { data } = parseIgnoringUnknownKeys(transcriptionEnvelope, await readObjectFile(file, "FILE", terminal));
  if (data === undefined)
    throw new CliError(EXIT.usage, `${file} is not the JSON answer of a transcription.`, {
      hints: ["save one with: patchbay transcribe FILE --json"],
    });
  const { local_model: model } = data;
  if (model === undefined)
    throw new CliError(
      EXIT.usage,
      `${file} was not made by a model on the gateway's machine, so it cannot be decoded again.`,
    );
  return { ...data, local_model: model };
}

/** The installed model with exactly the files of the answer. Their contents are compared, not their record. */
async function requireModel(
  { local_model: { files } }: LocalAnswer,
  dir: string,
  manifest: NonNullable<ModelSources["manifest"]>,
  signal: AbortSignal,
): Promise<InstalledModel> {
  const bundled = await readDemonstration(demonstrationDirectory(packageRoot()));
  const installed = [...(await listInstalled(dir, manifest)), ...(bundled === null ? [] : [bundled])];
  const model = installed.find((each) => hasFiles(each, files));
  if (model === undefined)
    throw new CliError(EXIT.unexpected, "No installed model has the files that made this answer.", {
      hints: [
        ...files.map(({ path, sha256 }) => `${path} ${sha256}`),
        "installed models: patchbay models list. The request's record names the model.",
      ],
    });
  const { files: verdicts } = await verifyModel(model, { signal });
  const faults = verdicts.flatMap(({ path, difference }) => (difference === null ? [] : [`${path} ${difference}`]));
  if (faults.length > 0)
    throw new CliError(EXIT.unexpected, `The files of ${model.name} have changed since it was installed.`, {
      hints: [...faults, `repair it: patchbay models pull ${model.name}`],
    });
  return model;
}

function hasFiles(model: InstalledModel, files: LocalAnswer["local_model"]["files"]): boolean {
  return (
    model.files.length === files.length &&
    files.every(({ path, sha256 }) => model.files.some((file) => file.path === path && file.sha256 === sha256))
  );
}

/** Channel by channel, because words of several channels are in the order of their times. */
function differencesOf(answer: LocalAnswer, decoded: readonly DecodedAgain[]): readonly TranscriptDifference[] {
  return decoded.flatMap((each) => {
    const ofChannel = <T extends { readonly channel: number | null }>(pieces: readonly T[]): readonly T[] =>
      pieces.filter(({ channel }) => channel === each.channel);
    const words = ofChannel(answer.words);
    if (words.length > 0 && each.words.length > 0) return compareTranscripts(words, each.words);
    const segments = ofChannel(answer.segments);
    // The content may be a caption file, if there are segments.
    const text = segments.length > 0 ? segments.map((segment) => segment.text).join(" ") : answer.content;
    return compareTranscripts(untimed(text), untimed(each.text));
  });
}

function untimed(text: string): readonly ComparedWord[] {
  return text
    .split(/\s+/u)
    .filter((word) => word !== "")
    .map((word) => ({ text: word, start: null, end: null }));
}

/** One of the two that determine a text in addition to audio and model files. */
interface RuntimeDifference {
  readonly of: "engine" | "processor";
  /** Null: the answer does not name it. */
  readonly saved: string | null;
  readonly here: string;
}

function compareRuntime({ local_model: saved }: LocalAnswer): readonly RuntimeDifference[] {
  const here = readEngineRuntime();
  return (["engine", "processor"] as const)
    .map((of) => ({ of, saved: saved[of] ?? null, here: here[of] }))
    .filter((each) => each.saved !== each.here);
}

interface Verdict {
  readonly model: string;
  readonly differences: readonly TranscriptDifference[];
  readonly runtime: readonly RuntimeDifference[];
}

async function print(
  { model, differences, runtime }: Verdict,
  { json }: VerifyTranscriptOptions,
  terminal: Terminal,
): Promise<void> {
  if (json === true) return printJson(terminal, { ok: differences.length === 0, model, differences, runtime });
  await write(
    terminal.stdout,
    differences.length === 0
      ? `same text, decoded again by ${model}\n`
      : `${differences.length} differences, decoded again by ${model}\n`,
  );
  for (const { seconds, saved, decoded } of differences) {
    const at = seconds === null ? "  " : `  ${seconds.toFixed(3)} s  `;
    await write(terminal.stdout, `${at}- ${saved}\n${" ".repeat(at.length)}+ ${decoded}\n`);
  }
  for (const { of, saved, here } of runtime)
    await printLine(terminal, `The ${of} is another: ${saved ?? "not named by the answer"}, here ${here}.`);
  if (differences.length > 0 && runtime.length === 0)
    await printLine(terminal, "Engine and processor family are those of the answer.");
}
