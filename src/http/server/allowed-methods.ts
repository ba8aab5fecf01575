// Which methods a path takes, so that a known path with another method is 405 with `Allow` and an unknown one 404 with a hint.
import type { EndpointContract } from "../../contract/endpoint.ts";
import { GatewayError } from "../../contract/errors.ts";
import { suggest } from "../../lib/text/suggest.ts";
import { canonicalPath } from "./head.ts";

export type AllowedMethods = (target: string) => readonly string[];

/** Every GET endpoint answers HEAD too, as RFC 9110 section 9.1 requires of a general-purpose server. */
export function allowedMethods(contracts: readonly EndpointContract[]): AllowedMethods {
  const templates = contracts.map((contract) => ({ method: contract.method, segments: contract.path.split("/") }));
  return (target) => {
    const path = canonicalPath(target);
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

/** What a path that leads nowhere is told: the one that was meant, if one is near, and where all of them stand. */
export type NowhereHint = (target: string) => string;

/**
 * Of the paths that name no object: an id is nobody's mistake. Whoever has no key may ask for what is not there as often as he likes, so
 * a path is compared with the few that are about as long: tens of microseconds, where all of them would take a millisecond.
 */
export function notFoundHint(contracts: readonly EndpointContract[]): NowhereHint {
  const paths = [...new Set(contracts.map(({ path }) => path))].filter((path) => !path.includes(":"));
  const list = ["/docs", "/openapi.json"].find((path) => paths.includes(path));
  const where = list === undefined ? "" : ` GET ${list} lists what there is.`;
  const near = (path: string): string | undefined =>
    paths.find((each) => each === `/v1${path}`) ??
    suggest(
      path,
      paths.filter(({ length }) => Math.abs(length - path.length) <= 1),
    );
  return (target) => {
    const path = canonicalPath(target);
    const meant = path === null ? undefined : near(path);
    return `${meant === undefined ? "" : ` Did you mean ${meant}?`}${where}`;
  };
}

export function noSuchEndpoint(allowed: readonly string[], hint = ""): GatewayError {
  if (allowed.length === 0) return new GatewayError("NOT_FOUND", { message: `There is nothing at this path.${hint}` });
  const list = allowed.join(", ");
  return new GatewayError("METHOD_NOT_ALLOWED", {
    message: `This path takes ${list}.`,
    details: { allow: allowed },
    headers: { allow: list },
  });
}
