// `patchbay route explain` (contract 3, 10): reads what is stored, as it is, and decides as the gateway would. On embedded storage
// the gateway must be stopped, or be asked itself by a dry run.
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { z } from "zod";
import { createDecoder } from "../audio/decode/decoder.ts";
import { findFfmpeg } from "../audio/decode/find-ffmpeg.ts";
import { createMeasurer } from "../audio/measure.ts";
import { hashKey } from "../auth/key-format.ts";
import type { Principal } from "../auth/principal.ts";
import type { ExplainOptions } from "../cli/route-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, type Terminal, visible, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { chatFields } from "../contract/chat.ts";
import { translationFields } from "../contract/transcription.ts";
import { findKey } from "../directory/find-key.ts";
import { findAppPrincipal, findKeyById } from "../directory/find-principal.ts";
import { loadDirectory } from "../directory/load-directory.ts";
import type { MeasuredFacts } from "../gateway/audio-call.ts";
import {
  type AudioExplanation,
  type ChatExplanation,
  explainRoute as explain,
  type RouteTrace,
} from "../gateway/explain-route.ts";
import { issueWords } from "../lib/issue-words.ts";
import { createCircuits } from "../providers/health.ts";
import { chatProviders } from "../providers/registry.ts";
import type { Database } from "../storage/database.ts";
import { readRequest } from "../storage/requests.ts";
import { createSeal } from "../storage/seal.ts";
import { installation } from "../storage/system.ts";
import { reasonOf } from "./finding.ts";
import { openInstallation } from "./open-installation.ts";
import { readConfiguration, readSecrets } from "./read-configuration.ts";

export async function explainRoute(
  file: string | undefined,
  options: ExplainOptions,
  terminal: Terminal,
): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  await using opened = new AsyncDisposableStack();
  const database = await openInstallation(configuration, {
    asItIs: true,
    inUse: "stop the gateway, or ask it: patchbay transcribe FILE --dry-run, or patchbay chat TEXT --dry-run",
  });
  opened.defer(() => database.close());
  const trace =
    options.request === undefined
      ? await decide(file, options, terminal, configuration, database)
      : await readTrace(database, options.request);
  const text = options.json === true ? JSON.stringify({ object: "route_trace", ...trace }) : lines(trace).join("\n");
  await write(terminal.stdout, `${options.json === true ? text : visible(text)}\n`);
  return EXIT.ok;
}

/** Of a request on record: as it was decided then. */
async function readTrace(database: Database, id: string): Promise<RouteTrace> {
  const { db } = installation(database);
  const row = await readRequest(db, { workspaceId: null, appId: null }, id);
  if (row === null) throw new CliError(EXIT.notFound, "There is no record of such a request.");
  const { asked, purpose, route, refusal, candidates } = row;
  // Written by the request log from a trace.
  return { asked, purpose, route, refusal, candidates } as RouteTrace;
}

async function decide(
  file: string | undefined,
  options: ExplainOptions,
  terminal: Terminal,
  configuration: Configuration,
  database: Database,
): Promise<RouteTrace> {
  const secrets = await readSecrets(configuration);
  const principal = await principalOf(options, terminal, database, secrets.pepper);
  const directory = await loadDirectory({ database, seal: createSeal({ keys: secrets.encryptionKeys }) });
  const ffmpeg = findFfmpeg(terminal.env["PATH"]);
  const services = {
    directory: () => directory,
    decoder: createDecoder({ ffmpeg, directory: configuration.storage.dataDir }),
    circuits: createCircuits(Date.now),
    now: () => new Date(),
    chatProviders,
  };
  return explain(services, await questionOf(file, options, terminal, principal));
}

async function principalOf(
  { key, app, apiKey }: ExplainOptions,
  { env }: Terminal,
  database: Database,
  pepper: Buffer,
): Promise<Principal> {
  const secret = apiKey ?? env["PATCHBAY_API_KEY"];
  if (key === undefined && app === undefined && (secret === undefined || secret === ""))
    throw new CliError(EXIT.usage, "Whose request? Give --app, --key or --api-key.");
  const found =
    key !== undefined
      ? await findKeyById(database, key)
      : app !== undefined
        ? await findAppPrincipal(database, app)
        : await findKey(database, hashKey(pepper, secret ?? ""), false);
  if (found === null) throw new CliError(EXIT.notFound, "There is no such app or key.");
  if (found.app === null) throw new CliError(EXIT.usage, "This key belongs to no app and routes nothing.");
  return found;
}

async function questionOf(
  file: string | undefined,
  options: ExplainOptions,
  terminal: Terminal,
  principal: Principal,
): Promise<AudioExplanation | ChatExplanation> {
  if (options.chat !== undefined) {
    const body = await readJson(resolve(terminal.cwd, options.chat));
    return { kind: "chat", principal, fields: fieldsAs(chatFields, body) };
  }
  const task = options.translate === true ? "translate" : "transcribe";
  const given = options.toLanguage === undefined ? {} : { to_language: options.toLanguage };
  const fields = fieldsAs(translationFields, { ...options.fields, ...given });
  const audio = file === undefined ? declaredAudio(options) : await measureFile(resolve(terminal.cwd, file));
  return { kind: "audio", principal, task, fields, audio };
}

function fieldsAs<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CliError(EXIT.usage, "The request is wrong.", {
    hints: parsed.error.issues.flatMap((issue) =>
      issueWords(issue, value).map(({ path, message }) => `${path.map(String).join(".")}: ${message}`),
    ),
  });
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new CliError(EXIT.usage, `${path} cannot be read as JSON: ${reasonOf(error)}.`);
  }
}

/** Nobody else waits for it. */
const MEASURE_MS = 60_000;

async function measureFile(path: string): Promise<MeasuredFacts> {
  const measurer = createMeasurer({ killAfterMs: () => MEASURE_MS });
  try {
    const { size: sizeBytes } = await stat(path);
    const measured = await measurer.measure({ kind: "file", path, sizeBytes });
    if (!measured.ok) throw new CliError(EXIT.usage, `The recording ${measured.reason}.`);
    const { format, durationSeconds, channels, codec, sampleRate } = measured;
    return { format, sizeBytes, durationSeconds, channels, codec, sampleRate };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.usage, `${path} cannot be read: ${reasonOf(error)}.`);
  } finally {
    await measurer.close();
  }
}

/** 16-bit samples, 16,000 a second. */
const BYTES_PER_SECOND = 32_000;

/** Null: nothing was said of it. */
function declaredAudio({ seconds, bytes, channels = 1, audioFormat = "wav" }: ExplainOptions): MeasuredFacts | null {
  if (seconds === undefined) return null;
  const facts = {
    format: audioFormat,
    durationSeconds: seconds,
    channels,
    sizeBytes: Math.round(bytes ?? seconds * channels * BYTES_PER_SECOND),
  };
  return audioFormat === "wav" ? { ...facts, codec: "pcm", sampleRate: 16_000 } : facts;
}

function lines({ asked, purpose, route, refusal, candidates }: RouteTrace): readonly string[] {
  if (asked === null) return ["It was never decided: the request ended before its routing."];
  const wanted = [...asked.features, ...asked.preferences.map((name) => `(${name})`)];
  return [
    row("asked", `${asked.capability}: ${wanted.length === 0 ? "nothing in particular" : wanted.join(", ")}`),
    ...(purpose === null
      ? []
      : [
          row(
            "purpose",
            `${purpose.requested ?? "none"} -> ${purpose.applied ?? "none"}  (${purpose.source}${purpose.reason === null ? "" : `: ${purpose.reason}`})`,
          ),
        ]),
    row("route", route ?? "none"),
    ...(candidates ?? []).map((each) => row("target", targetLine(each))),
    row("outcome", refusal === null ? "routed" : `refused: ${refusal.replaceAll("_", " ")}`),
  ];
}

function targetLine(candidate: NonNullable<RouteTrace["candidates"]>[number]): string {
  const { position, connection, provider, model, missing, healthy, pausedUntil } = candidate;
  const rest = pausedUntil === undefined ? "resting" : `paused by hand until ${pausedUntil}`;
  const verdict = missing.length > 0 ? `lacks ${missing.join(", ")}` : healthy === false ? rest : "able";
  return `${position}  ${connection}  ${provider} ${model}  ${verdict}`;
}

function row(name: string, text: string): string {
  return `${name.padEnd(9)}${text}`;
}
