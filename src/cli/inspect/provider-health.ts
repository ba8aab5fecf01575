// `patchbay providers health`: success rates, durations and the latest failures of each account's models [cli.providers-list].
import type { PauseView } from "../../contract/admin/pauses.ts";
import { providerHealth, type ProviderHealth, type SeenModel } from "../../contract/admin/provider-health.ts";
import { type GatewayOptions, openSession, queryOf, type Session, parseReply } from "../gateway-session.ts";
import { adminUrl } from "../gateway-url.ts";
import { type Names, workspaceNames } from "./owner-names.ts";
import { pauseTable } from "../administer/pauses.ts";
import { printJson, table } from "../print.ts";
import { printLine, type Terminal, write } from "../terminal.ts";

export interface ProviderHealthOptions extends Omit<GatewayOptions, "url"> {
  readonly adminUrl?: string;
  readonly minutes?: string;
  readonly json?: boolean;
}

type Circuit = ProviderHealth["circuits"][number];
export type Account = Pick<Circuit, "workspace_id" | "connection" | "model">;

const STATES: Readonly<Record<Circuit["state"], string>> = {
  closed: "healthy",
  open: "unavailable",
  half_open: "half open",
};

/** A manual pause takes precedence: it applies to every process. */
export function stateOf(account: Account, circuit: Circuit | undefined, pauses: readonly PauseView[]): string {
  if (pauses.some((pause) => concerns(pause, account))) return "paused";
  return circuit === undefined ? "-" : STATES[circuit.state];
}

function concerns(pause: PauseView, { workspace_id: owner, connection, model }: Account): boolean {
  return (
    pause.workspace_id === owner && pause.connection === connection && (pause.model === null || pause.model === model)
  );
}
/** Over all models together. */
const SHOWN_ERRORS = 20;

export async function showProviderHealth(
  options: ProviderHealthOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const url = adminUrl(options.adminUrl, terminal);
  const session = openSession({ ...options, url }, terminal, signal, "operator");
  const health = await readHealth(session, options.minutes);
  if (options.json === true) return printJson(terminal, health);
  const rows = rowsOf(health, await ownersIn(health, session));
  if (health.pauses.length > 0) await write(terminal.stdout, `paused manually\n${pauseTable(health.pauses)}\n`);
  if (rows.length === 0) return printLine(terminal, `No provider calls since ${health.since}.`);
  await write(terminal.stdout, table(HEAD, rows));
  const errors = errorsOf(health);
  if (errors.length > 0) await write(terminal.stdout, `\nlast errors\n${table(ERRORS_HEAD, errors)}`);
  await printLine(terminal, healthScope(health, "all other columns cover"));
  if (errors.length > 0)
    await printLine(terminal, `details of a failure: patchbay requests show REQUEST --admin-url ${url}`);
}

/** What the columns are about: a process knows only its own circuits. */
export function healthScope({ since, sampled }: ProviderHealth, rest: string): string {
  const only = sampled ? ", limited to the most recent calls" : "";
  return `STATE is that of the responding process; ${rest} all processes since ${since}${only}.`;
}

export async function readHealth(session: Session, minutes?: string): Promise<ProviderHealth> {
  const query = queryOf({ minutes });
  return parseReply(
    providerHealth,
    await session.document(`/admin/v1/health/providers${query}`),
    "health of providers",
  );
}

const HEAD = ["CONNECTION", "OWNER", "MODEL", "STATE", "CALLS", "OK %", "P50 MS", "P95 MS", "MOST FREQUENT FAILURE"];

function rowsOf(health: ProviderHealth, owners: Names): readonly (readonly string[])[] {
  return accountsIn(health).map((account) => {
    const seen = health.models.find((each) => isSame(each, account));
    const circuit = health.circuits.find((each) => isSame(each, account));
    return [
      account.connection,
      ownerName(account, owners),
      account.model,
      stateOf(account, circuit, health.pauses),
      String(seen?.calls ?? 0),
      seen === undefined ? "-" : percentOf(seen),
      String(seen?.duration_p50_ms ?? "-"),
      String(seen?.duration_p95_ms ?? "-"),
      seen === undefined ? "" : mostFrequentFailure(seen),
    ];
  });
}

/** Models called in the window, followed by models with a circuit but no calls. */
export function accountsIn({ circuits, models }: ProviderHealth): readonly Account[] {
  return [...models, ...circuits.filter((circuit) => !models.some((each) => isSame(each, circuit)))];
}

/** Slugs of the workspaces whose own accounts were called. */
export async function ownersIn(health: ProviderHealth, session: Session): Promise<Names> {
  const hasOwner = accountsIn(health).some(({ workspace_id: owner }) => owner !== null);
  return hasOwner ? workspaceNames({ session, isOperator: true }) : new Map();
}

export function ownerName({ workspace_id: owner }: Pick<Account, "workspace_id">, owners: Names): string {
  return owner === null ? "shared" : (owners.get(owner) ?? owner);
}

export function isSame(one: Account, other: Account): boolean {
  return one.workspace_id === other.workspace_id && one.connection === other.connection && one.model === other.model;
}

const ERRORS_HEAD = ["TIME", "REQUEST", "CONNECTION", "MODEL", "OUTCOME", "MS"];

function errorsOf({ models }: ProviderHealth): readonly (readonly string[])[] {
  return models
    .flatMap(({ connection, model, last_errors: errors }) => errors.map((error) => ({ connection, model, error })))
    .toSorted((left, right) => (left.error.at < right.error.at ? 1 : -1))
    .slice(0, SHOWN_ERRORS)
    .map(({ connection, model, error }) => [
      error.at,
      error.request_id,
      connection,
      model,
      error.outcome,
      String(error.duration_ms),
    ]);
}

/** Of completed calls: those abandoned by their caller count neither way. Rounded down, so that one failure in 2,000 does not read as 100. */
function percentOf({ succeeded, failed }: SeenModel): string {
  const completed = succeeded + failed;
  return completed === 0 ? "-" : (Math.floor((succeeded * 1_000) / completed) / 10).toFixed(1);
}

function mostFrequentFailure({ outcomes }: SeenModel): string {
  const failure = outcomes.find(({ outcome }) => outcome !== "succeeded" && outcome !== "aborted");
  return failure === undefined ? "" : `${failure.outcome} (${failure.calls})`;
}
