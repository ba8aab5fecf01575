// `patchbay purposes list|test`: the labels that an app may send, and where one would be routed [cli.purposes].
import { keyDescription, type PublishedPurpose } from "../../contract/account.ts";
import { whyNot } from "../../contract/lack-text.ts";
import { type RoutingDecision, routingDecision } from "../../contract/transcription/transcription-envelope.ts";
import { suggest } from "../../lib/text/suggest.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import { type GatewayOptions, openSession, readDocument, parseReply } from "../gateway-session.ts";
import { printList } from "../print-list.ts";
import { formatFields, printJson } from "../print.ts";
import { roundUsd } from "../round-usd.ts";
import { sendAudio } from "../use/send-audio.ts";
import { CliError, type Terminal, write } from "../terminal.ts";

export interface PurposeOptions extends GatewayOptions {
  readonly json?: boolean;
}
export interface PurposeTestOptions extends PurposeOptions {
  readonly chat?: boolean;
  readonly purposePolicy?: string;
  readonly responseProfile?: string;
}

export async function listPurposes(options: PurposeOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const document = await openSession(options, terminal, signal).document("/v1/me");
  const { purposes: data } = parseReply(keyDescription, document, "description of a key");
  const columns = {
    head: ["PURPOSE", "STATE", "CONTEXTS", "DESCRIPTION"],
    row: ({ purpose, is_enabled: isEnabled, contexts, description }: PublishedPurpose) => [
      purpose,
      isEnabled ? "enabled" : "disabled",
      contexts.join(","),
      description,
    ],
    nothing: "The key's routes publish no purposes.",
  };
  await printList(terminal, { data, next_cursor: null }, columns, options);
}

/** A dry run: everything is checked, no provider is called, nothing is billed. Default: the bundled sample. */
export async function testPurpose(
  purpose: string,
  file: string | undefined,
  options: PurposeTestOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  if (options.chat === true && file !== undefined)
    throw new CliError(EXIT.usage, "Use either FILE or --chat, not both.");
  const document = await (options.chat === true ? askChat : askAudio)(purpose, file, options, terminal, signal);
  const decision = parseReply(routingDecision, document, "routing decision");
  if (options.json !== true) await write(terminal.stdout, describe(decision));
  const { outcome, purpose: applied } = decision;
  if (outcome.code === null && applied.svc_applied_purpose === purpose)
    return options.json === true ? printJson(terminal, document) : undefined;
  const hints = [
    ...(await suggestionFor(purpose, options, terminal, signal)),
    "list the labels: patchbay purposes list",
  ];
  if (outcome.code !== null)
    throw new CliError(exitCodeOf(outcome.code, outcome.status), `A request would be rejected: ${outcome.code}.`, {
      hints,
      document,
    });
  throw new CliError(
    exitCodeOf("audio_purpose_unavailable", 503),
    `A request would not use the requested purpose: ${applied.svc_applied_purpose === null ? "no purpose" : `the purpose ${applied.svc_applied_purpose}`} would be applied.`,
    { hints, document },
  );
}

/** A label of the key that is close to a mistyped one. */
async function suggestionFor(
  purpose: string,
  options: PurposeOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const document = await openSession(options, terminal, signal).document("/v1/me");
  const labels = parseReply(keyDescription, document, "description of a key").purposes.map((each) => each.purpose);
  const found = labels.includes(purpose) ? undefined : suggest(purpose, labels);
  return found === undefined ? [] : [`did you mean ${found}?`];
}

type Ask = (
  purpose: string,
  file: string | undefined,
  options: PurposeTestOptions,
  terminal: Terminal,
  signal: AbortSignal,
) => Promise<unknown>;

const askAudio: Ask = async (purpose, file, options, terminal, signal) => {
  const fields = { ...fieldsOf(purpose, options), dry_run: true };
  const { url, apiKey } = options;
  const response = await sendAudio({
    path: "/v1/transcription",
    argument: file,
    fields,
    options: {
      sample: file === undefined,
      ...(url === undefined ? {} : { url }),
      ...(apiKey === undefined ? {} : { apiKey }),
    },
    doing: "deciding",
    terminal,
    signal,
  });
  return readDocument(response);
};

const askChat: Ask = (purpose, _file, options, terminal, signal) =>
  openSession(options, terminal, signal).document("/v1/chat", {
    method: "POST",
    json: { messages: [{ role: "user", content: "Hello" }], ...fieldsOf(purpose, options), dry_run: true },
  });

function fieldsOf(purpose: string, { purposePolicy, responseProfile }: PurposeTestOptions) {
  return {
    purpose,
    ...(purposePolicy === undefined ? {} : { purpose_policy: purposePolicy }),
    ...(responseProfile === undefined ? {} : { response_profile: responseProfile }),
  };
}

function describe({ outcome, purpose, candidates, estimated_cost_usd: cost, audio_seconds: seconds }: RoutingDecision) {
  const { svc_requested_purpose: requestedPurpose, svc_applied_purpose: applied, svc_purpose_source: source } = purpose;
  return formatFields([
    ["purpose", `${requestedPurpose ?? "none"} -> ${applied ?? "none"} (${source})`],
    ...candidates.map((candidate) => ["target", describeCandidate(candidate)] as const),
    ["outcome", outcome.code === null ? `target ${outcome.position ?? "?"} would serve` : `refused: ${outcome.code}`],
    ["audio", seconds === null ? null : `${seconds} s`],
    ["estimate", cost === null ? null : `${roundUsd(cost)} USD`],
  ]);
}

/** Only keys with the scope `routing:read` see names. */
function describeCandidate({
  position,
  connection,
  provider,
  model,
  missing,
  health,
  paused_until: until,
}: RoutingDecision["candidates"][number]) {
  const name = [connection, provider, model].flatMap((part) => part ?? []).join(" ");
  const rest = until === undefined ? "unavailable" : `paused manually until ${until}`;
  const state = missing.length > 0 ? whyNot(missing) : health === "resting" ? rest : "eligible";
  return `${position}${name === "" ? "" : ` ${name}`}: ${state}`;
}
