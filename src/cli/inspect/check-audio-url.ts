// `patchbay audio-url check`: reports rule by rule whether an address would be fetched [cli.audio-url].
import { type AudioUrlCheck, audioUrlCheck } from "../../contract/admin/audio-url-check.ts";
import { exitCodeOf } from "../exit-codes.ts";
import { openSession, parseReply, workspacePath } from "../gateway-session.ts";
import type { AdminOptions } from "../administer/keys.ts";
import { printJson } from "../print.ts";
import { CliError, type Terminal, stripControlCharacters, write } from "../terminal.ts";

export async function checkAudioUrl(
  url: string,
  options: AdminOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const session = openSession(options, terminal, signal, "operator");
  const path = `${await workspacePath(session, options.workspace)}/audio-url-domains/check`;
  const document = await session.document(path, { method: "POST", json: { url } });
  const check = parseReply(audioUrlCheck, document, "check of an address");
  if (options.json !== true) await write(terminal.stdout, stripControlCharacters(`${linesOf(check).join("\n")}\n`));
  if (!check.allowed) {
    const message = `A request with this URL is rejected: ${check.reason ?? ""}.`;
    throw new CliError(exitCodeOf("AUDIO_URL_REJECTED", 400), message, { document });
  }
  if (options.json === true) await printJson(terminal, document);
}

const WORDS = { met: "yes", broken: "NO", not_judged: "-" } as const;

function linesOf({ rules, listed, addresses = [] }: AudioUrlCheck): readonly string[] {
  return [
    ...rules.flatMap(({ outcome, text, message, detail }) => [
      `${WORDS[outcome].padEnd(5)}${text}${outcome === "not_judged" ? " (not checked)" : ""}`,
      ...(message === null ? [] : [`     ${message}`]),
      ...(detail === undefined || detail === null ? [] : [`     found: ${detail}`]),
    ]),
    ...(listed === null
      ? []
      : [`listed as ${listed.entry}, ${listed.owner === "workspace" ? "by the workspace" : "by the operator"}`]),
    ...(addresses.length === 0 ? [] : [`resolves to ${addresses.join(", ")}`]),
  ];
}
