// `patchbay simulate`: sets the sandbox's faults in a running gateway [cli.simulate], to show how it handles a failing provider.
import {
  type SandboxFault,
  sandboxFaults,
  type SandboxFaults,
  SIMULATED_DROPS,
} from "../../contract/admin/sandbox-faults.ts";
import { EXIT } from "../exit-codes.ts";
import { type GatewayOptions, openSession, parseReply } from "../gateway-session.ts";
import { adminUrl } from "../gateway-url.ts";
import { printJson, table } from "../print.ts";
import { CliError, printLine, type Terminal, write } from "../terminal.ts";

export interface SimulateOptions extends Omit<GatewayOptions, "url"> {
  readonly adminUrl?: string;
  readonly provider?: NonNullable<SandboxFault["provider"]>;
  readonly model?: string;
  readonly times?: number;
  readonly seconds?: number;
  readonly feature?: (typeof SIMULATED_DROPS)[number];
  readonly answeredBy?: string;
  readonly json?: boolean;
}

const PATH = "/admin/v1/sandbox/faults";

/** Faults with a name; an HTTP status is set by its number. */
export const FAULT_NAMES = ["slow", "timeout", "reset", "garbage", "empty", "drop", "other-model", "off"] as const;

/** Without a fault: prints the active ones. */
export async function simulate(
  fault: string | undefined,
  options: SimulateOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const newFault = fault === undefined || fault === "off" ? null : faultOf(fault, options);
  const session = openSession({ ...options, url: adminUrl(options.adminUrl, terminal) }, terminal, signal, "operator");
  const inForce = async (): Promise<SandboxFaults> =>
    parseReply(sandboxFaults, await session.document(PATH), "list of faults");
  const replace = async (faults: SandboxFaults["faults"]): Promise<SandboxFaults> =>
    parseReply(sandboxFaults, await session.document(PATH, { method: "PUT", json: { faults } }), "list of faults");
  const now =
    fault === undefined
      ? await inForce()
      : await replace(newFault === null ? [] : [...(await inForce()).faults, newFault]);
  if (options.json === true) return printJson(terminal, now);
  if (now.faults.length === 0) return printLine(terminal, "No faults are active.");
  await write(terminal.stdout, table(["FAULT", "PROVIDER", "MODEL", "CALLS LEFT"], now.faults.map(cells)));
  await printLine(terminal, `next: ${nextCommand(newFault)}`);
  await printLine(terminal, "then: patchbay requests show ID, with the request id that it prints");
  await printLine(terminal, "remove it: patchbay simulate off");
}

/** A request that meets the fault, with the key of an app. */
function nextCommand(fault: SandboxFault | null): string {
  const feature = fault?.failure.kind === "drop" ? fault.failure.feature : null;
  if (feature === "tool_calls") return 'patchbay chat "Hello" --tools tools.json';
  if (feature === "response_format") return 'patchbay chat "Hello" --response-format json_object';
  if (fault?.provider === "anthropic") return 'patchbay chat "Hello"';
  return `patchbay transcribe --sample${feature === null ? "" : ` ${OPTIONS[feature]}`}`;
}

/** Without its feature, a request does not meet a fault that drops it. */
const OPTIONS = {
  diarization: "--diarization",
  "timestamps.word": "--timestamps word",
  "timestamps.segment": "--timestamps segment",
  multichannel: "--multichannel",
  redaction: "--redaction pii",
  keyterms: "--keyterm Patchbay",
  profanity_filter: "--profanity-filter",
} as const;

function faultOf(name: string, options: SimulateOptions): SandboxFault {
  const { provider, model, times } = options;
  const failure = failureOf(name, options);
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(times === undefined ? {} : { times }),
    failure,
  };
}

const USUAL_DELAY_SECONDS = 5;

function failureOf(name: string, { seconds, feature, answeredBy }: SimulateOptions): SandboxFault["failure"] {
  if (answeredBy !== undefined && name !== "other-model")
    throw new CliError(EXIT.usage, "--answered-by requires `other-model`.");
  if (feature !== undefined && name !== "drop") throw new CliError(EXIT.usage, "--feature requires `drop`.");
  const isStatus = /^[45]\d\d$/u.test(name);
  if (seconds !== undefined && name !== "slow" && !isStatus)
    throw new CliError(EXIT.usage, "--seconds requires `slow`, or a status (as Retry-After).");
  if (isStatus)
    return {
      kind: "status",
      status: Number(name),
      ...(seconds === undefined ? {} : { retry_after_seconds: Math.ceil(seconds) }),
    };
  switch (name) {
    case "slow":
      return { kind: "delay", ms: Math.round((seconds ?? USUAL_DELAY_SECONDS) * 1000) };
    case "timeout":
      return { kind: "stall" };
    case "reset":
      return { kind: "reset_after_body" };
    case "garbage":
    case "empty":
      return { kind: name };
    case "drop":
      if (feature === undefined)
        throw new CliError(EXIT.usage, "`drop` requires --feature.", {
          hints: [`one of ${SIMULATED_DROPS.join(", ")}`],
        });
      return { kind: "drop", feature };
    case "other-model":
      if (answeredBy === undefined) throw new CliError(EXIT.usage, "`other-model` requires --answered-by.");
      return { kind: "other_model", name: answeredBy };
    default:
      throw new CliError(EXIT.usage, "Unknown fault.", {
        hints: [`use a status such as 429 or 503, or one of ${FAULT_NAMES.join(", ")}`],
      });
  }
}

function cells({ provider, model, times, failure }: SandboxFault): readonly string[] {
  return [describe(failure), provider ?? "all", model ?? "all", times === undefined ? "until off" : String(times)];
}

function describe(failure: SandboxFault["failure"]): string {
  switch (failure.kind) {
    case "status":
      return `HTTP ${failure.status}${failure.retry_after_seconds === undefined ? "" : `, Retry-After ${failure.retry_after_seconds}`}`;
    case "delay":
      return `slow by ${failure.ms / 1000} s`;
    case "stall":
      return "timeout";
    case "reset_after_body":
      return "reset";
    case "garbage":
    case "empty":
      return failure.kind;
    case "drop":
      return `drops ${failure.feature}`;
    case "other_model":
      return `answered by ${failure.name}`;
  }
}
