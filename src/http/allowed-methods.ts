// Which methods a path takes, so that a known path with another method is 405 with `Allow` and an unknown one 404.
import type { EndpointContract } from "../contract/endpoint.ts";
import { GatewayError } from "../contract/errors.ts";
import { plainPath } from "./head.ts";

export type AllowedMethods = (target: string) => readonly string[];

/** Every GET endpoint answers HEAD too, as RFC 9110 section 9.1 requires of a general-purpose server. */
export function allowedMethods(contracts: readonly EndpointContract[]): AllowedMethods {
  const templates = contracts.map((contract) => ({ method: contract.method, segments: contract.path.split("/") }));
  return (target) => {
    const path = plainPath(target);
    if (path === null) return [];
    const segments = path.split("/");
    const methods = templates.filter((template) => matches(template.segments, segments)).map(({ method }) => method);
    return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
  };
}

function matches(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) => (part.startsWith(":") ? segments[index] !== "" : part === segments[index]))
  );
}

export function noSuchEndpoint(allowed: readonly string[]): GatewayError {
  if (allowed.length === 0) return new GatewayError("NOT_FOUND", { message: "There is nothing at this path." });
  const list = allowed.join(", ");
  return new GatewayError("METHOD_NOT_ALLOWED", {
    message: `This path takes ${list}.`,
    details: { allow: allowed },
    headers: { allow: list },
  });
}
