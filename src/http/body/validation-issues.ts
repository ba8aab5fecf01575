// Collects all validation errors of a request to report them together. Route-control fields (`route-control.ts`) have precedence over all other errors, and errors in
// fields over the size limit [request-body.all-issues] [request-body.faults-before-size].
import { GatewayError } from "../../contract/errors.ts";
import { invalidRequests, type Issue } from "../../contract/invalid-request.ts";
import { ROUTE_CONTROL_FIELDS, routeControlRejected } from "./route-control.ts";

export interface Faults {
  add(param: string | null, message: string): void;
  /** Call for each field name that was sent. Returns true, and records it, if the name is a route-control field. */
  noteRouteControl(name: string): boolean;
  /** For an error that makes the rest of the body unreadable. */
  fatal(param: string | null, message: string): GatewayError;
  /** `error` ended the reading. Errors found before have precedence over it. */
  outrank(error: unknown): unknown;
  /** Whether any error so far is about the audio itself. */
  concernAudio(): boolean;
  throwIfAny(): void;
}

/** An unknown field name is the caller's text and can have any length. */
const MAX_CHARACTERS = 400;

/** `own` contains the endpoint's fields by name, because a compatible endpoint may have a `model` field. */
export function createFaults(own: Readonly<Record<string, unknown>> = {}): Faults {
  const issues: Issue[] = [];
  let refusedName: string | null = null;

  const hasAny = (): boolean => refusedName !== null || issues.length > 0;

  function error(): GatewayError {
    if (refusedName !== null) return routeControlRejected(refusedName);
    return invalidRequests(issues);
  }

  return {
    add(param, message) {
      issues.push({ param: param === null ? null : truncate(param), message: truncate(message) });
    },
    noteRouteControl(name) {
      if (!ROUTE_CONTROL_FIELDS.has(name) || Object.hasOwn(own, name)) return false;
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

function truncate(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…` : text;
}
