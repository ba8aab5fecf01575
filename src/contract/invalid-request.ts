// Creates the 400 error about fields or headers: `param` names the first, and `details.issues` lists all [errors.all-issues].
import { type ErrorDetails, GatewayError } from "./errors.ts";

export interface Issue {
  readonly param: string | null;
  readonly message: string;
}

const MAX_ISSUES = 50;

export function invalidRequest(param: string | null, message: string): GatewayError {
  return invalidRequests([{ param, message }]);
}

/** Reports all issues at once. `details`: further facts for programs. */
export function invalidRequests(issues: readonly Issue[], details: ErrorDetails = {}): GatewayError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more, see details.issues)` : "";
  return new GatewayError("INVALID_REQUEST", {
    message: `${first?.message ?? "The request is malformed."}${more}`,
    param: first?.param ?? undefined,
    details: { ...details, issues: issues.slice(0, MAX_ISSUES) },
  });
}
