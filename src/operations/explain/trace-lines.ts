// Formats a routing decision as lines of text for `patchbay route explain`.
import { callRows } from "../../cli/inspect/show-request.ts";
import { whyNot } from "../../contract/lack-text.ts";
import type { RouteTraceView } from "../../contract/admin/route-explanation.ts";

export function traceLines(trace: RouteTraceView): readonly string[] {
  const { asked, purpose, route, route_version: version, refusal, candidates, calls = [] } = trace;
  if (asked === null) return ["Not routed: the request ended before its routing decision."];
  const wanted = [...asked.features, ...asked.preferences.map((name) => `(${name})`)];
  return [
    row("asked", `${asked.capability}: ${wanted.length === 0 ? "no options" : wanted.join(", ")}`),
    ...(purpose === null
      ? []
      : [
          row(
            "purpose",
            `${purpose.requested ?? "none"} -> ${purpose.applied ?? "none"}  (${purpose.source}${purpose.reason === null ? "" : `: ${purpose.reason}`})`,
          ),
        ]),
    row("route", route === null ? "none" : `${route}${version === null ? "" : `, version ${version}`}`),
    ...(candidates ?? []).map((each) => row("target", targetLine(each))),
    ...calls.flatMap(callRows),
    row("outcome", refusal === null ? "routed" : `refused: ${refusal.replaceAll("_", " ")}`),
  ];
}

function targetLine(candidate: NonNullable<RouteTraceView["candidates"]>[number]): string {
  const { position, connection, provider, model, missing, healthy, paused_until: until, retired } = candidate;
  const rest = until === undefined ? "resting" : `paused manually until ${until}`;
  const verdict = missing.length > 0 ? whyNot(missing) : healthy === false ? rest : "eligible";
  const end = retired === undefined ? "" : `  ended ${retired.ended_on} (${retired.source ?? "its provider"})`;
  return `${position}  ${connection}  ${provider} ${model}  ${verdict}${end}`;
}

function row(name: string, text: string): string {
  return `${name.padEnd(9)}${text}`;
}
