// `patchbay providers add`: creates a shared connection or a workspace's own [cli.providers-add]. The credential is read from a file or stdin, because
// arguments appear in process lists, and is never printed.
import { connectionView } from "../../contract/admin/connections.ts";
import { needsCredential, type ProviderKind } from "../../contract/provider-kinds.ts";
import { EXIT } from "../exit-codes.ts";
import { openPlace, type PlaceOptions, parseReply } from "../gateway-session.ts";
import { adminUrl } from "../gateway-url.ts";
import { printJson } from "../print.ts";
import { readObjectFile, readTextArgument } from "../read-argument.ts";
import { CliError, printLine, type Terminal, write } from "../terminal.ts";
import { testCommand } from "./test-provider.ts";

export interface ProviderAddOptions extends PlaceOptions {
  readonly kind: ProviderKind;
  readonly credential?: string;
  readonly baseUrl?: string;
  /** Further fields of the connection, as JSON. */
  readonly settings?: string;
  readonly json?: boolean;
}

export async function addProvider(
  id: string,
  options: ProviderAddOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { kind, credential, baseUrl, settings, workspace } = options;
  if (credential === undefined && needsCredential(kind))
    throw new CliError(EXIT.usage, `${kind} requires a credential.`, {
      hints: ["name the file that contains it, or pipe it: patchbay providers add … --credential - < FILE"],
    });
  const more = settings === undefined ? {} : await readObjectFile(settings, "--settings", terminal);
  const secret = credential === undefined ? null : await readTextArgument(credential, "--credential", terminal);
  const place = workspace === undefined ? { ...options, adminUrl: adminUrl(options.adminUrl, terminal) } : options;
  const { session, place: path } = openPlace(place, terminal, signal);
  const json = {
    ...more,
    id,
    kind,
    ...(secret === null ? {} : { api_key: secret.trim() }),
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
  };
  const document = await session.document(`${path}/connections`, { method: "POST", json, isRepeatable: false });
  if (options.json === true) return printJson(terminal, document);
  const connection = parseReply(connectionView, document, "connection");
  const lastDigits = connection.credential_last4 === null ? "" : `  \u2026${connection.credential_last4}`;
  await write(terminal.stdout, `${connection.id}  ${connection.kind}${lastDigits}\n`);
  await printLine(terminal, `next: ${testCommand(connection.id, options)}`);
}
