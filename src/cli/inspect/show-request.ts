// `patchbay requests show ID`: explains how one request was routed, from its record [cli.requests]. Provider names are shown only to keys with the scope
// `routing:read` and to administrators.
import { keyDescription } from "../../contract/account.ts";
import { whyNot } from "../../contract/lack-text.ts";
import {
  requestRecord,
  type RecordedAttemptView,
  type RecordedCandidateView,
  type RequestRecordView,
} from "../../contract/requests.ts";
import { EXIT } from "../exit-codes.ts";
import { openPlace, type PlaceOptions, parseReply, type Session } from "../gateway-session.ts";
import { adminUrl, endpointUrl } from "../gateway-url.ts";
import { roundUsd } from "../round-usd.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../terminal.ts";
import { appNames, keyName, type NameSource, workspaceNames } from "./owner-names.ts";

export interface RequestOptions extends PlaceOptions {
  readonly json?: boolean;
}

export async function showRequest(
  id: string,
  options: RequestOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { session, place, document, scope } = await readRecord(id, options, terminal, signal);
  if (options.json === true) {
    await write(terminal.stdout, `${JSON.stringify(document)}\n`);
    return;
  }
  const record = parseReply(requestRecord, document, "record");
  const owner = await ownerOf(record, { session, isOperator: place === OPERATORS });
  const consoleUrl = consoleLink(session.gateway, record.id, scope);
  await write(terminal.stdout, stripControlCharacters(`${lines(record, owner, consoleUrl).join("\n")}\n`));
  if (place === APPS && record.candidates.some(({ provider }) => provider === undefined))
    await printLine(
      terminal,
      "Names of providers need a key with the scope routing:read, or an administrator's key and --workspace WORKSPACE.",
    );
}

/** Places of a record: that of the app's key, and that of the operator on the admin listener. */
const APPS = "/v1";
const OPERATORS = "/admin/v1";

interface FoundRecord {
  readonly session: Session;
  readonly place: string;
  readonly document: unknown;
  readonly scope: Pick<PlaceOptions, "workspace">;
}

/** Without a place, it is that of the key: an app, the workspace that it administers, or all workspaces. */
async function readRecord(
  id: string,
  options: RequestOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<FoundRecord> {
  const read = async (scope: PlaceOptions): Promise<FoundRecord> => {
    const { session, place } = openPlace(scope, terminal, signal);
    const document = await session
      .document(`${place}/requests/${encodeURIComponent(id)}`)
      .catch((error: unknown) => rejectWithKey(error, id, place));
    return { session, place, document, scope };
  };
  if (options.workspace !== undefined || options.adminUrl !== undefined) return read(options);
  return read(options).catch(async (error: unknown) => {
    const other = isNotShown(error) ? await otherPlace(options, terminal, signal) : null;
    if (other === null) throw error;
    return read({ ...options, ...other }).catch((again: unknown) => {
      // Of a saved operator's key, which may be missing: the first answer says more.
      throw isNotShown(again) && other.adminUrl !== undefined ? error : again;
    });
  });
}

/** Where a key that belongs to no app reads records, or the operator, whose key is saved next to the app's. Null: nowhere else that is known. */
async function otherPlace(
  options: RequestOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Pick<PlaceOptions, "workspace" | "adminUrl"> | null> {
  const { PATCHBAY_URL: url = "", PATCHBAY_API_KEY: key = "" } = terminal.env;
  // The admin listener of another machine is not found from its public address.
  const operators = options.url === undefined && url === "" ? { adminUrl: adminUrl(undefined, terminal) } : null;
  if (options.apiKey === undefined && key === "") return operators;
  const document = await openPlace(options, terminal, signal)
    .session.document("/v1/me")
    .catch(() => null);
  const me = keyDescription.safeParse(document);
  if (!me.success) return null;
  const { role } = me.data.key;
  return role === "admin" ? { workspace: me.data.workspace.slug } : role === "operator" ? operators : null;
}

function isNotShown(error: unknown): error is CliError {
  return error instanceof CliError && (error.exitCode === EXIT.notFound || error.exitCode === EXIT.auth);
}

/** Reports which key shows the record, if this one does not. */
function rejectWithKey(error: unknown, id: string, place: string): never {
  if (!isNotShown(error)) throw error;
  const { exitCode, message, document } = error;
  const shown =
    place === APPS
      ? "an app's key shows the requests of its app, an administrator's those of its workspace"
      : "an administrator's key shows the requests of its workspace";
  const all = `the operator's key shows all: patchbay requests show ${id} --admin-url URL`;
  const hints = place === OPERATORS ? [] : [shown, all];
  throw new CliError(exitCode, message, { hints: [...error.hints, ...hints], document });
}

interface Owner {
  readonly workspace: string;
  readonly app: string | null;
  readonly key: string | null;
}

/** Null: not shown to this key, or a request without a valid one. */
async function ownerOf({ workspace, app, key }: RequestRecordView, source: NameSource): Promise<Owner | null> {
  if (workspace === undefined || workspace === null) return null;
  const [workspaces, apps, name] = await Promise.all([
    workspaceNames(source),
    appNames(source, [workspace]),
    key == null ? null : keyName(source, workspace, key),
  ]);
  const named = (id: string, found: string | null | undefined): string => (found == null ? id : `${found}  ${id}`);
  return {
    workspace: named(workspace, workspaces.get(workspace)),
    app: app == null ? null : named(app, apps.get(app)),
    key: key == null ? null : named(key, name),
  };
}

/** The request's page of the console, which asks for a key with the role admin, on the admin listener for the operator's. */
function consoleLink(gateway: URL, id: string, { workspace }: Pick<PlaceOptions, "workspace">): string {
  const scope = workspace === undefined ? "" : `w/${encodeURIComponent(workspace)}/`;
  return `${endpointUrl(gateway, "/console")}#/${scope}requests/${encodeURIComponent(id)}`;
}

function lines(record: RequestRecordView, owner: Owner | null, consoleUrl: string): readonly string[] {
  const { purpose, asked, usage, job } = record;
  return [
    record.summary,
    "",
    ...(record.workspace === null ? [row("workspace", "none (no valid key)")] : []),
    ...(owner === null
      ? []
      : [
          row("workspace", owner.workspace),
          ...(owner.app === null ? [] : [row("app", owner.app)]),
          ...(owner.key === null ? [] : [row("api key", owner.key)]),
        ]),
    row("request", `${record.id}  ${record.created_at}  ${record.endpoint}`),
    row("answer", `${record.status}${record.code === null ? "" : ` ${record.code}`}  ${record.duration_seconds} s`),
    ...(asked === null
      ? []
      : [row("asked", list([...asked.features, ...asked.preferences.map((name) => `(${name})`)]))]),
    ...(purpose === null || purpose.source === "none" ? [] : [row("purpose", describePurpose(purpose))]),
    ...(record.route === undefined || record.route === null ? [] : [row("route", describeRoute(record))]),
    ...record.candidates.map((candidate) => row("target", describeCandidate(candidate))),
    ...record.attempts.flatMap(callRows),
    row("idempotency", record.idempotency.key.replaceAll("_", " ")),
    row(
      "usage",
      `${usage.audio_seconds ?? 0} s audio, ${usage.input_tokens + usage.output_tokens} tokens, ${roundUsd(usage.charge_usd)} USD`,
    ),
    ...(job === null
      ? []
      : [row("job", `${job.id}  ${job.status ?? "gone"}${job.code === null ? "" : `  ${job.code}`}`)]),
    ...(record.provider_deletion === "none" ? [] : [row("deletion", record.provider_deletion)]),
    row("console", consoleUrl),
  ];
}

function describePurpose({ requested, applied, source, reason }: NonNullable<RequestRecordView["purpose"]>): string {
  return `${requested ?? "none"} -> ${applied ?? "none"}  (${source}${reason === null ? "" : `: ${reason}`})`;
}

function describeCandidate(candidate: RecordedCandidateView): string {
  const { position, provider, model, missing, health, paused_until: until, retired, outcome } = candidate;
  const name = provider === undefined || model === undefined ? "" : `  ${provider} ${model}`;
  const rest = until === undefined ? "  unavailable" : `  paused manually until ${until}`;
  const lackNote = missing.length > 0 ? `  ${whyNot(missing)}` : health === "resting" ? rest : "";
  const endNote = retired === undefined ? "" : `  ended ${retired.ended_on} (${retired.source ?? "its provider"})`;
  return `${position}${name}  ${outcome === "left" ? "skipped" : outcome.replaceAll("_", " ")}${lackNote}${endNote}`;
}

function describeRoute({ route, route_version: version }: RequestRecordView): string {
  return `${route ?? ""}${version === undefined || version === null ? "" : `, version ${version}`}`;
}

/** A provider call: its outcome, the provider's own reason if it failed, and what its answer proves. */
export function callRows(attempt: RecordedAttemptView): readonly string[] {
  return [row("call", describeCall(attempt)), ...failureRows(attempt), ...proofRows(attempt)];
}

function describeCall(attempt: RecordedAttemptView): string {
  const {
    position,
    outcome,
    created_at: startedAt,
    finished_at: finishedAt,
    billing_class: payer,
    charge_usd: usd,
    provider,
    model,
  } = attempt;
  const names = provider === undefined || model === undefined ? [] : [`${provider} ${model}`];
  const seconds = finishedAt === null ? [] : [`${(Date.parse(finishedAt) - Date.parse(startedAt)) / 1000} s`];
  const charge = `${usd === null ? "?" : roundUsd(usd)} USD`;
  return [position, ...names, outcome ?? "in progress", ...seconds, payer, charge].join("  ");
}

function failureRows({ position, provider_error: error }: RecordedAttemptView): readonly string[] {
  if (error === undefined || error === null) return [];
  const { status, code, request_id: id, message } = error;
  const facts = [`HTTP ${status}`, code, id == null ? null : `request ${id}`, message ?? null];
  return [row("provider", `${position}  ${facts.filter((fact) => fact !== null).join("  ")}`)];
}

/** Receipts: which required features the answer proves, and how. */
function proofRows({ position, receipts }: RecordedAttemptView): readonly string[] {
  if (receipts.length === 0) return [];
  const proofs = receipts.map((receipt) => `${receipt.feature} (${describeProof(receipt)})`);
  return [row("receipts", `${position}  ${proofs.join(", ")}`)];
}

function describeProof({ grade, delivered, answered }: RecordedAttemptView["receipts"][number]): string {
  if (answered === undefined) return delivered ? grade : "not delivered";
  return delivered ? `${grade}: ${answered}` : `answered by ${answered}`;
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "no options" : names.join(", ");
}

function row(name: string, text: string): string {
  return `${name.padEnd(13)}${text}`;
}
