// Builds errors of Google's JSON APIs: `google.rpc.Status` with the status name.
import { jsonAnswer, type WireAnswer } from "../wire/wire.ts";

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

export function googleError(code: number, message: string, details: readonly object[] = []): WireAnswer {
  const status = STATUS_NAMES[code] ?? (code >= 500 ? "INTERNAL" : "FAILED_PRECONDITION");
  return jsonAnswer(code, { error: { code, message, status, ...(details.length === 0 ? {} : { details }) } });
}

export const googleErrorForStatus = (code: number): WireAnswer =>
  googleError(code, code >= 500 ? "An internal error has occurred." : "The request could not be processed.");

export const googleErrorInfo = (reason: string, domain = "googleapis.com"): object => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain,
});
