// `patchbay keys list|create|rotate|revoke`: API keys of a workspace, for its administrators and the operator [cli.keys].
import { type KeyView, keyView } from "../../contract/admin/keys.ts";
import { confirm } from "../confirm.ts";
import { type GatewayOptions, openSession, type Session, parseReply, workspacePath } from "../gateway-session.ts";
import { type ListOptions, printList, readList } from "../print-list.ts";
import { formatFields, printJson } from "../print.ts";
import { readObjectFile } from "../read-argument.ts";
import { type Terminal, write } from "../terminal.ts";

export interface AdminOptions extends GatewayOptions {
  readonly workspace?: string;
  readonly json?: boolean;
}
export interface KeyListOptions extends AdminOptions, ListOptions {
  readonly app?: string;
  readonly role?: string;
  readonly state?: string;
}
export interface KeyCreateOptions extends AdminOptions {
  readonly app?: string;
  readonly role?: string;
  readonly mode?: string;
  readonly name?: string;
  readonly scope?: readonly string[];
  readonly expiresAt?: string;
  readonly route?: string;
  readonly audioInputOverride?: string;
  readonly audioPurposePolicy?: string;
  readonly settings?: string;
}
export interface KeyRotateOptions extends AdminOptions {
  readonly overlap?: number;
}
export interface KeyRevokeOptions extends AdminOptions {
  readonly yes?: boolean;
}

interface Opened {
  readonly session: Session;
  /** Path of the workspace's keys. */
  readonly path: string;
}

export async function listKeys(options: KeyListOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { session, path } = await open(options, terminal, signal);
  const { app, role, state } = options;
  const list = await readList(
    session,
    { path, query: { app, role, state }, item: keyView, what: "list of keys" },
    options.limit,
  );
  const columns = {
    head: ["KEY", "NAME", "BEGINS", "ENDS", "ROLE", "APP", "STATE", "SCOPES", "LAST USED"],
    row: (key: KeyView) => [
      key.id,
      key.name,
      key.prefix,
      key.last4,
      key.role,
      key.app_id ?? "-",
      key.state,
      key.scopes.join(","),
      key.last_used_at ?? "never",
    ],
    nothing: "No matching keys. Create one: patchbay keys create --app APP",
  };
  await printList(terminal, list, columns, options);
}

/** Prints only the secret on stdout, so that it can be captured; it is never shown again. */
export async function createKey(options: KeyCreateOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { settings } = options;
  const more = settings === undefined ? {} : await readObjectFile(settings, "--settings", terminal);
  const { session, path } = await open(options, terminal, signal);
  const json = {
    ...more,
    ...definedFields({
      app: options.app,
      role: options.role,
      mode: options.mode,
      name: options.name,
      scopes: options.scope,
      expires_at: options.expiresAt,
      route: options.route,
      audio_input_override: options.audioInputOverride,
      audio_purpose_policy: options.audioPurposePolicy,
    }),
  };
  // Sending it twice would create two keys.
  const document = await session.document(path, { method: "POST", json, isRepeatable: false });
  await printNew(document, options, terminal);
}

export async function rotateKey(
  id: string,
  options: KeyRotateOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { session, path } = await open(options, terminal, signal);
  const json = definedFields({ overlap_seconds: options.overlap });
  const one = `${path}/${encodeURIComponent(id)}/rotate`;
  await printNew(await session.document(one, { method: "POST", json, isRepeatable: false }), options, terminal);
}

export async function revokeKey(
  id: string,
  options: KeyRevokeOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { session, path } = await open(options, terminal, signal);
  const one = `${path}/${encodeURIComponent(id)}`;
  if (options.yes !== true) {
    const key = parseReply(keyView, await session.document(one), "key");
    await confirm(`Revoke the key ${key.name} (${key.prefix}…${key.last4})? This cannot be undone.`, terminal, signal);
  }
  const document = await session.document(one, { method: "DELETE" });
  if (options.json === true) return printJson(terminal, document);
  await write(terminal.stdout, `${parseReply(keyView, document, "key").state}\n`);
}

async function printNew(document: unknown, options: AdminOptions, terminal: Terminal): Promise<void> {
  if (options.json === true) return printJson(terminal, document);
  const key = parseReply(keyView, document, "key");
  await write(
    terminal.stderr,
    formatFields([
      ["key", key.id],
      ["name", key.name],
      ["app", key.app_id],
      ["role", key.role],
      ["scopes", key.scopes.join(",")],
      ["expires", key.expires_at ?? "never"],
      ["replaces", key.replaces],
    ]),
  );
  await write(terminal.stderr, "The key, shown only once:\n");
  await write(terminal.stdout, `${key.secret ?? ""}\n`);
}

async function open(options: AdminOptions, terminal: Terminal, signal: AbortSignal): Promise<Opened> {
  const session = openSession(options, terminal, signal, "operator");
  return { session, path: `${await workspacePath(session, options.workspace)}/keys` };
}

function definedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
