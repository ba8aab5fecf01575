// Parses the arguments of `patchbay route explain` into its question: the request, its recording, and the version of the route.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { EXIT } from "../../cli/exit-codes.ts";
import type { ExplainOptions } from "../../cli/inspect/route-commands.ts";
import { CliError, type Terminal } from "../../cli/terminal.ts";
import type { DeclaredRecording } from "../../gateway/transcription/unmeasured-audio.ts";
import { recordingOf } from "./explained-recording.ts";
import { reasonOf } from "../doctor/finding.ts";

export interface Question {
  readonly task: "transcribe" | "translate" | "chat";
  readonly fields: object;
  /** Null: the recording is unknown. */
  readonly recording: DeclaredRecording | null;
  /** Null: the route that the request would select. */
  readonly route: string | null;
  /** Null: the live version. */
  readonly version: number | "draft" | null;
}

export async function questionOf(
  file: string | undefined,
  options: ExplainOptions,
  { cwd }: Pick<Terminal, "cwd">,
): Promise<Question> {
  const { chat, translate, toLanguage, route = null, routeVersion } = options;
  const which = { route, version: routeVersion ?? (route === null ? null : "draft") } as const;
  if (chat !== undefined)
    return { task: "chat", fields: await readObject(resolve(cwd, chat)), recording: null, ...which };
  const fields = { ...options.fields, ...(toLanguage === undefined ? {} : { to_language: toLanguage }) };
  const recording = await recordingOf(file === undefined ? null : resolve(cwd, file), options);
  return { task: translate === true ? "translate" : "transcribe", fields, recording, ...which };
}

export function noDraft(): CliError {
  return new CliError(EXIT.notFound, "The route has no draft.", {
    hints: ["select a version: --route-version N", "or another route: --route ID"],
  });
}

async function readObject(path: string): Promise<object> {
  try {
    const body: unknown = JSON.parse(await readFile(path, "utf8"));
    if (typeof body === "object" && body !== null) return body;
  } catch (error) {
    throw new CliError(EXIT.usage, `${path} cannot be read as JSON: ${reasonOf(error)}.`);
  }
  throw new CliError(EXIT.usage, `${path} does not contain a JSON object.`);
}
