// Collects all faults of a request, so that they are reported together: a route-control field comes before every other fault, wherever it
// is, and any field before the size [request-body.all-issues] [request-body.faults-before-size].
import { GatewayError } from "../../contract/errors.ts";
import { invalidRequests, type Issue } from "../../contract/invalid-request.ts";

export interface Faults {
  add(param: string | null, message: string): void;
  /** A field of this name was sent. True when the name is one of route control, which is then noted. */
  noteRouteControl(name: string): boolean;
  /** For a fault that makes the rest unreadable. */
  fatal(param: string | null, message: string): GatewayError;
  /** `error` ended the reading: what was found before wins over it. */
  outrank(error: unknown): unknown;
  /** Whether a fault so far is about the audio itself. */
  concernAudio(): boolean;
  throwIfAny(): void;
}

const ROUTE_CONTROL: ReadonlySet<string> = new Set(["provider", "model", "audio.provider", "audio.model"]);
/** A name that is unknown is the caller's own text, as long as the caller likes. */
const MAX_CHARACTERS = 400;

/** `own`: the endpoint's fields by name; a compatible endpoint may have a `model` of its own. */
export function createFaults(own: Readonly<Record<string, unknown>> = {}): Faults {
  const issues: Issue[] = [];
  let refusedName: string | null = null;

  const hasAny = (): boolean => refusedName !== null || issues.length > 0;

  function error(): GatewayError {
    if (refusedName !== null) {
      return new GatewayError("ROUTE_CONTROL_FIELD_REJECTED", {
        message: `\`${refusedName}\` must not be sent: the route of the API key chooses provider and model. Remove it; to choose among routes send a \`purpose\`.`,
        param: refusedName,
      });
    }
    return invalidRequests(issues);
  }

  return {
    add(param, message) {
      issues.push({ param: param === null ? null : cut(param), message: cut(message) });
    },
    noteRouteControl(name) {
      if (!ROUTE_CONTROL.has(name) || Object.hasOwn(own, name)) return false;
      refusedName ??= name;
      return true;
    },
    fatal(param, message) {
      issues.push({ param, message });
      return error();
    },
    outrank(cause) {
      return cause instanceof GatewayError && hasAny() ? error() : cause;
    },
    concernAudio() {
      return issues.some(({ param }) => param === "file" || param === "audio" || param?.startsWith("audio."));
    },
    throwIfAny() {
      if (hasAny()) throw error();
    },
  };
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…` : text;
}
