// Opens a command's session with one gateway (its address, its key, messages about retries), and builds the paths and parses the replies of its calls.
import type { z } from "zod";
import { CLI_KEY_FILE, findApiKey, OPERATOR_KEY_FILE } from "./api-key.ts";
import { EXIT } from "./exit-codes.ts";
import { asRecord, asString } from "../lib/json/json-guards.ts";
import { callGateway, type GatewayRequest } from "./gateway-client.ts";
import { endpointUrl, gatewayUrl } from "./gateway-url.ts";
import { parseIgnoringUnknownKeys } from "../lib/json/parse-ignoring-unknown-keys.ts";
import { readText } from "./read-answer.ts";
import { CliError, type Terminal, stripControlCharacters } from "./terminal.ts";

export interface GatewayOptions {
  readonly url?: string;
  readonly apiKey?: string;
}

export interface Call extends Partial<Omit<GatewayRequest, "url" | "signal">> {
  /** Sent as JSON, instead of `makeBody`. */
  readonly json?: unknown;
}

export interface Session {
  readonly gateway: URL;
  /** Default: GET. Errors are thrown as `CliError`. */
  call(path: string, call?: Call): Promise<Response>;
  /** The answer as JSON, not validated. */
  document(path: string, call?: Call): Promise<unknown>;
}

/** `as`: owner of the saved key that is used if none is given. */
export function openSession(
  options: GatewayOptions,
  terminal: Terminal,
  signal: AbortSignal,
  as: "app" | "operator" = "app",
): Session {
  const gateway = gatewayUrl(options.url, terminal);
  const apiKey = findApiKey(options.apiKey, gateway, terminal, as === "app" ? CLI_KEY_FILE : OPERATOR_KEY_FILE);
  const call = (path: string, { json, headers, ...callOptions }: Call = {}): Promise<Response> =>
    callGateway({
      method: "GET",
      url: endpointUrl(gateway, path),
      makeBody: () =>
        json === undefined
          ? { body: null, headers: {} }
          : { body: JSON.stringify(json), headers: { "content-type": "application/json" } },
      signal,
      onRetry: (message, delaySeconds) =>
        terminal.stderr.write(`${stripControlCharacters(message)} Trying again in ${delaySeconds} s.\n`),
      ...callOptions,
      headers: { accept: "application/json", ...headers, authorization: `Bearer ${apiKey}` },
    }).catch((error: unknown) => {
      throw withKeySource(error, options, gateway, terminal);
    });
  return { gateway, call, document: async (path, callOptions) => readDocument(await call(path, callOptions)) };
}

/** A refused key that is not in the command may be a forgotten variable, or that of another gateway [cli.api-key]. */
function withKeySource(error: unknown, { apiKey }: GatewayOptions, gateway: URL, { env }: Terminal): unknown {
  if (!(error instanceof CliError) || error.exitCode !== EXIT.auth || apiKey !== undefined) return error;
  const isVariable = (env["PATCHBAY_API_KEY"] ?? "") !== "";
  const source = isVariable
    ? "the key is that of PATCHBAY_API_KEY: unset it to use the keys saved by a gateway started here"
    : `the key was saved by a gateway started here: is it the one at ${gateway.origin}?`;
  // A saved key that lacks a permission was accepted by its gateway.
  if (!isVariable && !error.message.startsWith("UNAUTHENTICATED")) return error;
  return new CliError(error.exitCode, error.message, { hints: [...error.hints, source], document: error.document });
}

export interface PlaceOptions extends GatewayOptions {
  /** As an administrator of this workspace. */
  readonly workspace?: string;
  /** As the operator, on the admin listener. */
  readonly adminUrl?: string;
}

/** Opens what an app, an administrator and the operator can each read: below `place` the path is the same for all three. */
export function openPlace(
  options: PlaceOptions,
  terminal: Terminal,
  signal: AbortSignal,
): { readonly session: Session; readonly place: string } {
  const { workspace, adminUrl } = options;
  if (adminUrl !== undefined)
    return { session: openSession({ ...options, url: adminUrl }, terminal, signal, "operator"), place: "/admin/v1" };
  if (workspace === undefined) return { session: openSession(options, terminal, signal), place: "/v1" };
  const place = `/workspace/${encodeURIComponent(workspace)}`;
  return { session: openSession(options, terminal, signal, "operator"), place };
}

export async function readDocument(response: Response): Promise<unknown> {
  const text = await readText(response);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(EXIT.upstream, "The answer is not JSON; is a gateway at this address?", {
      hints: [error instanceof Error ? error.name : ""],
    });
  }
}

/** Validates a document against this version's schema. `what` as in "is no list of jobs". */
export function parseReply<T extends z.ZodType>(schema: T, document: unknown, what: string): z.output<T> {
  const parsed = parseIgnoringUnknownKeys(schema, document);
  if (parsed.success) return parsed.data;
  throw new CliError(EXIT.upstream, `The gateway's answer is no ${what} that this version supports.`);
}

/** Path of the named workspace, else of the key's own. */
export async function workspacePath(session: Session, workspace: string | undefined): Promise<string> {
  return `/workspace/${encodeURIComponent(workspace ?? (await ownWorkspace(session)))}`;
}

export async function ownWorkspace(session: Session): Promise<string> {
  const slug = asString(asRecord(asRecord(await session.document("/v1/me"))["workspace"])["slug"]);
  if (slug === null) throw new CliError(EXIT.upstream, "The gateway did not return the workspace of this key.");
  return slug;
}

export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? "" : `?${search.toString()}`;
}
