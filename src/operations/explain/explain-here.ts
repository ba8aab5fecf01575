// Dry run of a request without a running gateway: decides from what is stored, as if every provider were healthy [cli.route-explain].
import type { z } from "zod";
import { createDecoder } from "../../audio/decode/decoder.ts";
import { findFfmpeg } from "../../audio/decode/find-ffmpeg.ts";
import { hashKey } from "../../auth/key-format.ts";
import type { Principal } from "../../auth/principal.ts";
import { otherVersion } from "../../admin/routes/other-version.ts";
import { PLATFORM_SCOPE } from "../../admin/set-up-scope.ts";
import { EXIT, exitCodeOf } from "../../cli/exit-codes.ts";
import type { ExplainOptions } from "../../cli/inspect/route-commands.ts";
import { CliError, type Terminal } from "../../cli/terminal.ts";
import type { Configuration } from "../../config/configuration.ts";
import { chatFields } from "../../contract/chat/checked-chat-fields.ts";
import { GatewayError } from "../../contract/errors.ts";
import { brand } from "../../contract/ids.ts";
import type { RouteTraceView } from "../../contract/admin/route-explanation.ts";
import { transcriptionFields, translationFields } from "../../contract/transcription/transcription-fields.ts";
import { findKey } from "../../directory/find-key.ts";
import { findAppPrincipal, findKeyById } from "../../directory/find-principal.ts";
import { loadDirectory, loadPrices } from "../../directory/load-directory.ts";
import { explainRoute, type RouteQuestion, type RouteTrace, traceView } from "../../gateway/dry-run/explain-route.ts";
import { declaredFacts } from "../../gateway/transcription/unmeasured-audio.ts";
import { describeIssue } from "../../lib/text/describe-issue.ts";
import { createCircuits } from "../../providers/health.ts";
import { chatProviders } from "../../providers/registry.ts";
import type { Database } from "../../storage/database.ts";
import { describeCalls } from "../../requests/describe.ts";
import { readAttempts, readRequest } from "../../requests/store/requests.ts";
import { createSeal } from "../../storage/secrets/seal.ts";
import { bypassRls } from "../../storage/system.ts";
import { noDraft, type Question } from "./explain-question.ts";
import { readSecrets } from "../read-configuration.ts";

interface Installed {
  readonly database: Database;
  readonly configuration: Configuration;
}

export async function explainHere(
  installed: Installed,
  question: Question,
  options: ExplainOptions,
  terminal: Terminal,
): Promise<RouteTraceView> {
  const { database, configuration } = installed;
  const secrets = await readSecrets(configuration);
  const principal = await principalOf(options, terminal, database, secrets.pepper);
  const directory = await loadDirectory({ database, seal: createSeal({ keys: secrets.encryptionKeys }) });
  const ffmpeg = findFfmpeg(terminal.env["PATH"]);
  const prices = await loadPrices(database);
  const services = {
    decoder: createDecoder({ ffmpeg, directory: configuration.storage.dataDir }),
    circuits: createCircuits(Date.now),
    now: () => new Date(),
    modelClock: () => new Date(),
    chatProviders,
    prices: () => prices,
  };
  const asked = routeQuestion(principal, question);
  const live = explainRoute({ ...services, directory: () => directory }, asked);
  const { version } = question;
  if (version === null) return traceView(live);
  const choice = { scope: PLATFORM_SCOPE, route: question.route, version: version === "draft" ? null : version };
  const other = await otherVersion({ database }, choice, principal.workspace.id, live.route).catch(asCliError);
  if (other === null) throw noDraft();
  return traceView(explainRoute({ ...services, directory: () => directory.withRoute(other) }, asked));
}

/** The recorded decision of an earlier request. */
export async function recordedHere({ database }: Pick<Installed, "database">, id: string): Promise<RouteTraceView> {
  const { db } = bypassRls(database, "installation");
  const row = await readRequest(db, { workspaceId: null, appId: null }, id);
  if (row === null) throw new CliError(EXIT.notFound, "No record of this request.");
  const { asked, purpose, route, route_version: routeVersion, refusal, candidates } = row;
  // The request log wrote these columns from a trace.
  const trace = traceView({ asked, purpose, route, routeVersion, refusal, candidates } as RouteTrace);
  const { workspace_id: workspace, app_id: app } = row;
  if (workspace === null || app === null) return { ...trace, calls: [] };
  const owner = { workspaceId: brand("workspace", workspace), appId: brand("app", app) };
  return { ...trace, calls: [...describeCalls(await readAttempts(db, owner, id))] };
}

async function principalOf(
  { key, app, apiKey }: ExplainOptions,
  { env }: Terminal,
  database: Database,
  pepper: Buffer,
): Promise<Principal> {
  const found =
    key !== undefined
      ? await findKeyById(database, key)
      : app !== undefined
        ? await findAppPrincipal(database, app)
        : await findKey(database, hashKey(pepper, apiKey ?? env["PATCHBAY_API_KEY"] ?? ""), false);
  if (found === null) throw new CliError(EXIT.notFound, "Unknown app or key.");
  if (found.app === null) throw new CliError(EXIT.usage, "This key belongs to no app, so it has no route.");
  return found;
}

function routeQuestion(principal: Principal, { task, fields, recording }: Question): RouteQuestion {
  if (task === "chat") return { kind: "chat", principal, fields: fieldsAs(chatFields, fields) };
  const audio = recording === null ? null : declaredFacts(recording);
  const schema = task === "translate" ? translationFields : transcriptionFields;
  return { kind: "audio", principal, task, fields: fieldsAs(schema, fields), audio };
}

function fieldsAs<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CliError(EXIT.usage, "The request is invalid.", {
    hints: parsed.error.issues.flatMap((issue) =>
      describeIssue(issue, value).map(({ path, message }) => `${path.map(String).join(".")}: ${message}`),
    ),
  });
}

/** Ends the command with the exit code of the error that a gateway would answer. */
function asCliError(error: unknown): never {
  if (error instanceof GatewayError) throw new CliError(exitCodeOf(error.code, error.status), error.message);
  throw error;
}
