// `patchbay route explain`: dry run of a request from stored state, or at a running gateway if one is named or has the database open.
import type { ExplainOptions } from "../../cli/inspect/route-commands.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import { CliError, type Terminal, stripControlCharacters, write } from "../../cli/terminal.ts";
import type { RouteTraceView } from "../../contract/admin/route-explanation.ts";
import { explainHere, recordedHere } from "./explain-here.ts";
import { questionOf } from "./explain-question.ts";
import { explainThere, namedGateway, type Place, recordedThere, runningGateway } from "./explain-at-gateway.ts";
import { openUnlessRunning } from "../open-installation.ts";
import { readConfiguration } from "../read-configuration.ts";
import { traceLines } from "./trace-lines.ts";

export async function explainRoute(
  file: string | undefined,
  options: ExplainOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const trace = await traceOf(file, options, terminal, signal);
  const text = options.json === true ? JSON.stringify(trace) : stripControlCharacters(traceLines(trace).join("\n"));
  await write(terminal.stdout, `${text}\n`);
  return EXIT.ok;
}

async function traceOf(
  file: string | undefined,
  options: ExplainOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<RouteTraceView> {
  const named = namedGateway(options, terminal, signal);
  if (named !== null) return explainAtGateway(named, file, options, terminal);
  const configuration = readConfiguration(options, terminal);
  const { key, app, apiKey, request } = options;
  if ([key, app, apiKey, request].every((each) => each === undefined) && !terminal.env["PATCHBAY_API_KEY"])
    throw new CliError(EXIT.usage, "No app or key. Use --app, --key or --api-key.");
  await using opened = new AsyncDisposableStack();
  const database = await openUnlessRunning(configuration, terminal);
  if (database === null)
    return explainAtGateway(await runningGateway(configuration, options, terminal, signal), file, options, terminal);
  opened.defer(() => database.close());
  // Awaited here, because the database is closed when this function returns.
  return request === undefined
    ? await explainHere({ database, configuration }, await questionOf(file, options, terminal), options, terminal)
    : await recordedHere({ database }, request);
}

async function explainAtGateway(
  place: Place,
  file: string | undefined,
  options: ExplainOptions,
  terminal: Terminal,
): Promise<RouteTraceView> {
  const { request } = options;
  return request === undefined
    ? explainThere(place, await questionOf(file, options, terminal))
    : recordedThere(place, request);
}
