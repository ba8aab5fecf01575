// `patchbay requests show ID`: explains how one request was routed, from its record [cli.requests]. Provider names are shown only to keys with the scope
// `routing:read` and to administrators.
import {
  requestRecord,
  type RecordedAttemptView,
  type RecordedCandidateView,
  type RequestRecordView,
} from "../../contract/requests.ts";
import { openPlace, type PlaceOptions, parseReply } from "../gateway-session.ts";
import { type Terminal, stripControlCharacters, write } from "../terminal.ts";

export interface RequestOptions extends PlaceOptions {
  readonly json?: boolean;
}

export async function showRequest(
  id: string,
  options: RequestOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { session, place } = openPlace(options, terminal, signal);
  const document = await session.document(`${place}/requests/${encodeURIComponent(id)}`);
  if (options.json === true) {
    await write(terminal.stdout, `${JSON.stringify(document)}\n`);
    return;
  }
  const record = parseReply(requestRecord, document, "record");
  await write(terminal.stdout, stripControlCharacters(`${lines(record).join("\n")}\n`));
}

function lines(record: RequestRecordView): readonly string[] {
  const { purpose, asked, usage, job } = record;
  return [
    record.summary,
    "",
    ...(record.workspace === undefined
      ? []
      : [
          row(
            "owner",
            record.workspace === null
              ? "none (no valid key)"
              : `${record.workspace}  ${record.app ?? ""}  ${record.key ?? ""}`,
          ),
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
      `${usage.audio_seconds ?? 0} s audio, ${usage.input_tokens + usage.output_tokens} tokens, ${usage.charge_usd} USD`,
    ),
    ...(job === null
      ? []
      : [row("job", `${job.id}  ${job.status ?? "gone"}${job.code === null ? "" : `  ${job.code}`}`)]),
    ...(record.provider_deletion === "none" ? [] : [row("deletion", record.provider_deletion)]),
  ];
}

function describePurpose({ requested, applied, source, reason }: NonNullable<RequestRecordView["purpose"]>): string {
  return `${requested ?? "none"} -> ${applied ?? "none"}  (${source}${reason === null ? "" : `: ${reason}`})`;
}

function describeCandidate(candidate: RecordedCandidateView): string {
  const { position, provider, model, missing, health, paused_until: until, retired, outcome } = candidate;
  const name = provider === undefined || model === undefined ? "" : `  ${provider} ${model}`;
  const rest = until === undefined ? "  unavailable" : `  paused manually until ${until}`;
  const lackNote = missing.length > 0 ? `  lacks ${missing.join(", ")}` : health === "resting" ? rest : "";
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
  } = attempt;
  const seconds = finishedAt === null ? [] : [`${(Date.parse(finishedAt) - Date.parse(startedAt)) / 1000} s`];
  return [position, outcome ?? "in progress", ...seconds, payer, `${usd ?? "?"} USD`].join("  ");
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
