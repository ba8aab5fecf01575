// `patchbay providers test`: checks whether an account's credential works, and for which models, before a call is paid for [cli.providers-add].
import { type ConnectionTest, connectionTest, type TestOutcome } from "../../contract/admin/connection-test.ts";
import { EXIT } from "../exit-codes.ts";
import { openPlace, type PlaceOptions, parseReply } from "../gateway-session.ts";
import { adminUrl } from "../gateway-url.ts";
import { printJson } from "../print.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../terminal.ts";

export interface ProviderTestOptions extends PlaceOptions {
  readonly json?: boolean;
}

export async function testProvider(
  id: string,
  options: ProviderTestOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { workspace } = options;
  const sessionOptions =
    workspace === undefined ? { ...options, adminUrl: adminUrl(options.adminUrl, terminal) } : options;
  const { session, place } = openPlace(sessionOptions, terminal, signal);
  const path = `${place}/connections/${encodeURIComponent(id)}`;
  const document = await session.document(`${path}/test`, { method: "POST" });
  const test = parseReply(connectionTest, document, "test of a connection");
  if (!test.ok) {
    const hints = hintOf(test.outcome, path);
    throw new CliError(EXIT.upstream, `${id} (${test.kind}): ${test.outcome.replaceAll("_", " ")}. ${test.message}`, {
      hints: [...hints, `then: ${testCommand(id, options)}`],
      document,
    });
  }
  if (options.json === true) return printJson(terminal, document);
  await write(terminal.stdout, textOf(test));
  await printLine(terminal, nextOf(test, place));
}

export function testCommand(id: string, { workspace }: Pick<PlaceOptions, "workspace">): string {
  return `patchbay providers test ${id}${workspace === undefined ? "" : ` --workspace ${workspace}`}`;
}

function textOf(test: ConnectionTest): string {
  const {
    connection,
    kind,
    outcome,
    asked: question,
    status,
    took_ms: tookMs,
    message,
    models,
    undeclared_models: more,
  } = test;
  const head = `${connection}  ${kind}  ${outcome}  ${question}  HTTP ${status ?? "-"}  ${tookMs} ms\n${message}\n`;
  // Most models of a provider have the same abilities.
  const alike = Map.groupBy(models, abilitiesOf);
  const known = [...alike].map(([abilities, those]) => `\n${abilities}\n  ${those.map(nameOf).join(", ")}\n`).join("");
  return stripControlCharacters(
    `${head}${known}${more === null || more.length === 0 ? "" : `\nalso listed\n  ${shortened(more)}\n`}`,
  );
}

type TestedModel = ConnectionTest["models"][number];

function abilitiesOf({ capabilities, features, weak_features: weak }: TestedModel): string {
  const all = [...features, ...weak.map((feature) => `${feature} (weak)`)];
  return `${capabilities.join(" and ")}: ${all.length === 0 ? "plain" : all.join(", ")}`;
}

function nameOf({ model, found }: TestedModel): string {
  return found === false ? `${model} (not listed)` : model;
}

const MOST_NAMES = 10;

function shortened(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(", ")}${rest > 0 ? ` and ${rest} more (--json)` : ""}`;
}

function nextOf({ connection, models }: ConnectionTest, place: string): string {
  const best = models.find(({ found }) => found === true) ?? models.find(({ found }) => found === null);
  if (best === undefined)
    return `next: patchbay api GET ${place}/connections/${connection}, and PUT it back with its models`;
  const route = JSON.stringify({ id: "my-route", targets: [{ connection, model: best.model }] });
  return `next: patchbay api POST ${place}/routes --data '${route.replaceAll("'", String.raw`'\''`)}'`;
}

function hintOf(outcome: TestOutcome, path: string): readonly string[] {
  switch (outcome) {
    case "refused":
    case "no_credential":
      return [
        `use another credential: \`api_key\` in the file, or patchbay api POST ${path}/credential --data @FILE, with {"api_key": "…"} in it`,
      ];
    case "unproven":
    case "restricted":
      return ["test with a billed call: patchbay transcribe --sample"];
    case "unreachable":
    case "unexpected":
      return ["check whether the addresses respond: patchbay doctor --call"];
    case "accepted":
    case "address_refused":
    case "busy":
    case "failing":
    case "out_of_credit":
      return [];
  }
}
