// Dry run of a request at a running gateway, which knows the health and the budgets of the moment [cli.route-explain].
import { findApiKey, OPERATOR_KEY_FILE } from "../../cli/api-key.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import { openPlace, openSession, type Session, parseReply } from "../../cli/gateway-session.ts";
import type { ExplainOptions } from "../../cli/inspect/route-commands.ts";
import { CliError, type Terminal } from "../../cli/terminal.ts";
import type { Configuration } from "../../config/configuration.ts";
import { keyDescription } from "../../contract/account.ts";
import { requestRecord } from "../../contract/requests.ts";
import {
  type ExplanationRequest,
  routeExplanation,
  type RouteTraceView,
} from "../../contract/admin/route-explanation.ts";
import type { DeclaredRecording } from "../../gateway/transcription/unmeasured-audio.ts";
import { ownAdminUrl, ownPublicUrl } from "../own-listener.ts";
import { noDraft, type Question } from "./explain-question.ts";

/** The gateway to ask, and the app or key that the request would be from. */
export interface Place {
  readonly session: Session;
  /** Prefix of the endpoint paths. */
  readonly place: string;
  readonly caller: Pick<ExplanationRequest, "app" | "key_id">;
}

/** Null if the options name no gateway. */
export function namedGateway(options: ExplainOptions, terminal: Terminal, signal: AbortSignal): Place | null {
  const { adminUrl, workspace, url } = options;
  if (adminUrl !== undefined || workspace !== undefined)
    return { ...openPlace(options, terminal, signal), caller: namedOwner(options) };
  if (url === undefined) return null;
  throw new CliError(EXIT.usage, "--url requires --workspace.", {
    hints: ["as the operator: --admin-url URL", "as an administrator of a workspace: --url URL --workspace WORKSPACE"],
  });
}

/** The gateway that has this configuration's embedded database open. */
export async function runningGateway(
  configuration: Configuration,
  options: ExplainOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Place> {
  const { operatorKeys, storage } = configuration;
  const url = ownAdminUrl(configuration, options, terminal);
  if (url === null)
    throw new CliError(EXIT.conflict, "A running gateway uses the embedded database and has no admin listener.", {
      hints: [
        "stop it, or set server.admin",
        "or dry-run as a caller: patchbay transcribe FILE --dry-run, or patchbay chat TEXT --dry-run",
      ],
    });
  const isNamed = options.app !== undefined || options.key !== undefined || options.request !== undefined;
  // A key that only identifies the request's owner need not have admin rights.
  const askingTerminal = isNamed ? terminal : { ...terminal, env: { ...terminal.env, PATCHBAY_API_KEY: "" } };
  const apiKey =
    (isNamed ? options.apiKey : undefined) ??
    operatorKeys[0]?.secret ??
    findApiKey(undefined, new URL(url), askingTerminal, OPERATOR_KEY_FILE, storage.dataDir);
  const session = openSession({ url, apiKey }, askingTerminal, signal, "operator");
  const caller = isNamed ? namedOwner(options) : { key_id: await idOfKey(configuration, options, terminal, signal) };
  return { session, place: "/admin/v1", caller };
}

function namedOwner({ app, key, request }: ExplainOptions): Place["caller"] {
  if (key !== undefined) return { key_id: key };
  if (app !== undefined) return { app };
  if (request !== undefined) return {};
  throw new CliError(EXIT.usage, "No app or key. Use --app or --key; --api-key is the administrator key.");
}

/** Any valid key may look up its own id. */
async function idOfKey(
  configuration: Configuration,
  options: ExplainOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string> {
  const { apiKey } = options;
  const url = ownPublicUrl(configuration, options, terminal);
  const session = openSession({ url, ...(apiKey === undefined ? {} : { apiKey }) }, terminal, signal);
  return parseReply(keyDescription, await session.document("/v1/me"), "description of a key").key.id;
}

export async function explainThere({ session, place, caller }: Place, question: Question): Promise<RouteTraceView> {
  const { task, fields, recording, route, version } = question;
  const json = {
    ...caller,
    task,
    fields,
    ...(recording === null ? {} : { recording: wireRecording(recording) }),
    ...(route === null ? {} : { route }),
    ...(typeof version === "number" ? { version } : {}),
  };
  const document = await session.document(`${place}/explain`, { method: "POST", json });
  const { live, draft } = parseReply(routeExplanation, document, "explanation");
  if (version === null) return live.trace;
  if (draft === null) throw noDraft();
  return draft.trace;
}

/** The recorded decision of an earlier request. */
export async function recordedThere({ session, place }: Place, id: string): Promise<RouteTraceView> {
  const document = await session.document(`${place}/requests/${encodeURIComponent(id)}`);
  const record = parseReply(requestRecord, document, "record");
  const { asked, purpose, decision, route = null, route_version: version = null, candidates, attempts } = record;
  return {
    object: "route_trace",
    asked,
    purpose,
    route,
    route_version: version,
    refusal: decision.outcome === "refused" ? decision.reason : null,
    candidates:
      decision.outcome === "none"
        ? null
        : candidates.map(({ position, missing, health, paused_until: until, retired, ...names }) => ({
            position,
            connection: names.connection ?? "",
            provider: names.provider ?? "",
            model: names.model ?? "",
            missing,
            healthy: health === null ? null : health === "healthy",
            ...(until === undefined ? {} : { paused_until: until }),
            ...(retired === undefined ? {} : { retired }),
          })),
    calls: attempts,
  };
}

function wireRecording(recording: DeclaredRecording): NonNullable<ExplanationRequest["recording"]> {
  const { format, durationSeconds, channels, sizeBytes, codec, sampleRate } = recording;
  return {
    format,
    duration_seconds: durationSeconds,
    channels,
    ...(sizeBytes === null ? {} : { bytes: sizeBytes }),
    ...(codec === null ? {} : { codec }),
    ...(sampleRate === null ? {} : { sample_rate: sampleRate }),
  };
}
