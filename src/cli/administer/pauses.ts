// `patchbay providers pause|resume`: pauses a provider account, or one model on it, for a time, and resumes it [cli.providers-pause].
import { type PauseView, pauseView, resumption } from "../../contract/admin/pauses.ts";
import { readDuration } from "../duration.ts";
import { openPlace, type PlaceOptions, parseReply } from "../gateway-session.ts";
import { adminUrl } from "../gateway-url.ts";
import { printJson, table } from "../print.ts";
import { printLine, type Terminal, write } from "../terminal.ts";

export interface ResumeOptions extends PlaceOptions {
  readonly model?: string;
  readonly json?: boolean;
}

export interface PauseOptions extends ResumeOptions {
  readonly for?: string;
  readonly reason?: string;
}

export async function pauseProvider(
  id: string,
  options: PauseOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { for: duration, reason } = options;
  const json = {
    ...modelOf(options),
    ...(duration === undefined ? {} : { duration_seconds: readDuration(duration, "--for") }),
    ...(reason === undefined ? {} : { reason }),
  };
  const document = await ask(id, "pause", json, options, terminal, signal);
  if (options.json === true) return printJson(terminal, document);
  await write(terminal.stdout, pauseTable([parseReply(pauseView, document, "pause")]));
  await printLine(terminal, `sooner: ${commandOf(id, options)}`);
}

export async function resumeProvider(
  id: string,
  options: ResumeOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const document = await ask(id, "resume", modelOf(options), options, terminal, signal);
  if (options.json === true) return printJson(terminal, document);
  const { ended, still_paused: remaining } = parseReply(resumption, document, "resumption");
  const what = options.model === undefined ? id : `${options.model} on ${id}`;
  if (remaining.length > 0) {
    await write(terminal.stdout, pauseTable(remaining));
    return printLine(
      terminal,
      `${what} is still paused, with all of ${id}. To resume it: ${commandOf(id, { ...options, model: "" })}`,
    );
  }
  await printLine(terminal, `${what} may be called again${ended.length === 0 ? "; nothing was paused" : ""}.`);
}

const HEAD = ["CONNECTION", "OWNER", "MODEL", "UNTIL", "BY", "REASON"];

export function pauseTable(pauses: readonly PauseView[]): string {
  return table(
    HEAD,
    pauses.map(({ connection, workspace_id: owner, model, until, created_by: by, reason }) => [
      connection,
      owner ?? "shared",
      model ?? "all",
      until,
      by,
      reason ?? "",
    ]),
  );
}

function modelOf({ model }: ResumeOptions): { readonly model?: string } {
  return model === undefined ? {} : { model };
}

async function ask(
  id: string,
  verb: "pause" | "resume",
  json: object,
  options: PlaceOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<unknown> {
  const sessionOptions =
    options.workspace === undefined ? { ...options, adminUrl: adminUrl(options.adminUrl, terminal) } : options;
  const { session, place } = openPlace(sessionOptions, terminal, signal);
  return session.document(`${place}/connections/${encodeURIComponent(id)}/${verb}`, { method: "POST", json });
}

function commandOf(id: string, { workspace, model = "" }: ResumeOptions): string {
  const only = model === "" ? "" : ` --model ${model}`;
  return `patchbay providers resume ${id}${only}${workspace === undefined ? "" : ` --workspace ${workspace}`}`;
}
