// `patchbay providers list|check`: lists the models that a workspace's routes can reference, and reports the health of provider accounts
// [cli.providers-list].
import { type ConnectionView, connectionView } from "../../contract/admin/connections.ts";
import type { ModelLifeView } from "../../contract/model-life.ts";
import { needsCredential } from "../../contract/provider-kinds.ts";
import type { ProviderHealth } from "../../contract/admin/provider-health.ts";
import { type AssignableModel, assignableModels } from "../../contract/admin/workspace-models.ts";
import { lifeText } from "../../lib/text/life-text.ts";
import { EXIT } from "../exit-codes.ts";
import { type GatewayOptions, openSession, type Session, parseReply, workspacePath } from "../gateway-session.ts";
import { adminUrl } from "../gateway-url.ts";
import type { AdminOptions } from "./keys.ts";
import { printList, readList } from "../print-list.ts";
import { pauseTable } from "./pauses.ts";
import { printJson, table } from "../print.ts";
import type { Names } from "../inspect/owner-names.ts";
import {
  type Account,
  accountsIn,
  healthScope,
  isSame,
  ownerName,
  ownersIn,
  readHealth,
  stateOf,
} from "../inspect/provider-health.ts";
import { CliError, printLine, type Terminal, write } from "../terminal.ts";

export interface ProviderListOptions extends AdminOptions {
  readonly capability?: AssignableModel["capabilities"][number];
  readonly provider?: string;
  /** Includes models without a connection. */
  readonly all?: boolean;
}

export interface ProviderCheckOptions extends Omit<GatewayOptions, "url"> {
  readonly adminUrl?: string;
  readonly json?: boolean;
}

export async function listProviders(
  options: ProviderListOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const visibleModels = await modelsFor(options, terminal, signal);
  const columns = {
    head: ["CONNECTION", "OWNER", "PROVIDER", "MODEL", "CAN", "BILLING", "STATE"],
    row: (model: AssignableModel) => [
      model.connection ?? "-",
      ownerOf(model),
      model.provider,
      model.model,
      model.capabilities.join(","),
      payersOf(model),
      model.reason?.replaceAll("_", " ") ?? "ready",
    ],
    nothing: "No connection offers such a model. See all known models: patchbay providers list --all",
  };
  await printList(terminal, { data: visibleModels, next_cursor: null }, columns, options);
}

/** Status, evidence and successors of every model [cli.providers-models]. */
export async function listModelLives(
  options: ProviderListOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const data = await modelsFor(options, terminal, signal);
  const columns = {
    head: ["CONNECTION", "PROVIDER", "MODEL", "STATUS", "VERIFIED", "DEPRECATED", "ENDS", "REPLACED BY", "SOURCE"],
    row: ({ connection, provider, model, life, not_offered: notOffered }: AssignableModel) => [
      connection ?? "-",
      provider,
      model,
      `${life === null ? "unknown" : lifeText(life.status, life.days_left)}${notOffered === null ? "" : `, not offered here since ${notOffered.since}`}`,
      life?.verified_on ?? "-",
      life?.deprecated_on ?? "-",
      life === null ? "-" : endOf(life),
      life === null || life.replaced_by.length === 0 ? "-" : life.replaced_by.map(successorOf).join("; "),
      life?.ends_on?.source ?? life?.source ?? "-",
    ],
    nothing: "No connection offers such a model. See all known models: patchbay providers models --all",
  };
  await printList(terminal, { data, next_cursor: null }, columns, options);
}

function endOf({ ends_on: end, redirect }: ModelLifeView): string {
  const found = end ?? redirect;
  if (found === null) return "-";
  const evidence = found.evidence === "vendor" ? "" : " (second-hand)";
  return redirect === null || end !== null
    ? `${found.date}${evidence}`
    : `${found.date} answered by ${redirect.model}${evidence}`;
}

function successorOf({ model, lacks }: ModelLifeView["replaced_by"][number]): string {
  return lacks.length === 0 ? model : `${model} (without ${lacks.join(", ")})`;
}

async function modelsFor(
  options: ProviderListOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<readonly AssignableModel[]> {
  const session = openSession(options, terminal, signal, "operator");
  const document = await session.document(`${await workspacePath(session, options.workspace)}/models`);
  const { data } = parseReply(assignableModels, document, "list of models");
  const { capability, provider, all } = options;
  return data.filter(
    (model) =>
      (all === true || model.connection !== null) &&
      (capability === undefined || model.capabilities.includes(capability)) &&
      (provider === undefined || model.provider === provider),
  );
}

/** Calls no provider: reports what the gateway's own calls have shown so far. */
export async function checkProviders(
  options: ProviderCheckOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const session = openSession({ ...options, url: adminUrl(options.adminUrl, terminal) }, terminal, signal, "operator");
  const connections = await connectionsOf(session);
  const health = await readHealth(session);
  const { checked_at: checkedAt, since, circuits, pauses, models } = health;
  const document = { object: "provider_check", checked_at: checkedAt, connections, circuits, pauses, since, models };
  const faults = [
    ...connections.filter(isBare).map(({ id }) => `${id} has no credential`),
    ...circuits
      .filter(({ state }) => state === "open")
      .map(({ connection, model }) => `${model} on ${connection} is unavailable after failures`),
  ];
  if (options.json !== true) {
    const rows = rowsOf(connections, health, await ownersIn(health, session));
    if (pauses.length > 0) await write(terminal.stdout, `paused manually\n${pauseTable(pauses)}\n`);
    if (rows.length === 0) await printLine(terminal, "No connections. See patchbay.example.yaml.");
    else {
      await write(terminal.stdout, table(HEAD, rows));
      await printLine(terminal, healthScope(health, "CALLS and FAILED cover"));
    }
  }
  if (faults.length > 0)
    throw new CliError(EXIT.upstream, `Problems found: ${faults.join("; ")}.`, {
      hints: ["test an account's credential: patchbay providers test ID", "see the calls: patchbay providers health"],
      document,
    });
  if (options.json === true) await printJson(terminal, document);
}

async function connectionsOf(session: Session): Promise<readonly ConnectionView[]> {
  const request = { path: "/admin/v1/connections", item: connectionView, what: "list of connections" };
  return (await readList(session, request, Number.POSITIVE_INFINITY)).data;
}

const HEAD = ["CONNECTION", "OWNER", "KIND", "CREDENTIAL", "MODEL", "STATE", "CALLS", "FAILED", "UNAVAILABLE UNTIL"];

/** Shared connections, called or not, followed by workspace connections that have been called. */
function rowsOf(
  connections: readonly ConnectionView[],
  health: ProviderHealth,
  owners: Names,
): readonly (readonly string[])[] {
  const accounts = accountsIn(health);
  const cells = (account: Account): readonly string[] => {
    const circuit = health.circuits.find((each) => isSame(each, account));
    const calls = health.models.find((each) => isSame(each, account));
    const state = stateOf(account, circuit, health.pauses);
    return [account.model, state, String(calls?.calls ?? 0), String(calls?.failed ?? 0), circuit?.rests_until ?? ""];
  };
  const own = connections.flatMap((connection) => {
    const about = [connection.id, "shared", connection.kind, credentialOf(connection)];
    const called = accounts.filter((each) => each.workspace_id === null && each.connection === connection.id);
    return called.length === 0
      ? [[...about, "-", "no recent calls"]]
      : called.map((each) => [...about, ...cells(each)]);
  });
  const ids = new Set(connections.map(({ id }) => id));
  const others = accounts.filter((each) => each.workspace_id !== null || !ids.has(each.connection));
  return [...own, ...others.map((each) => [each.connection, ownerName(each, owners), "-", "-", ...cells(each)])];
}

function credentialOf(connection: ConnectionView): string {
  if (!connection.has_credential) return isBare(connection) ? "missing" : "none";
  return connection.credential_last4 === null ? "set" : `…${connection.credential_last4}`;
}

function isBare({ kind, has_credential: has }: ConnectionView): boolean {
  return !has && needsCredential(kind);
}

/** A connection of the platform is shared by all workspaces. */
function ownerOf({ connection_owner: owner }: AssignableModel): string {
  return owner === "platform" ? "shared" : (owner ?? "-");
}

function payersOf({ billing_class: { audio_input: audio, chat } }: AssignableModel): string {
  return [...new Set([audio, chat].filter((each) => each !== null))].join(",");
}
