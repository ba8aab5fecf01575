// Names the models that a start without a configuration file routes to, in order, with the end of those that end [configuration.default-models]. Pure.
import type { Configuration } from "../config/configuration.ts";
import { knownLife } from "../config/known-models.ts";
import { lifeStatus, statusText } from "../providers/life-status.ts";

/** One line a route: `speech  openai gpt-transcribe, then openai whisper-1 (ends in 92 days)`. */
export function routeLines(
  { connections, routes }: Pick<Configuration, "connections" | "routes">,
  nowMs: number,
  localNote: (model: string) => string | null = () => null,
): readonly string[] {
  const kinds = new Map(connections.map(({ id, kind }) => [id, kind]));
  return routes.map(({ id, targets }) => {
    const names = targets.map(({ connection, model }) => {
      const kind = kinds.get(connection);
      const life = kind === undefined ? undefined : knownLife(kind, model);
      const status = life === undefined ? "current" : statusText(lifeStatus(life, nowMs));
      const note = kind === "local" ? localNote(model) : status === "current" ? null : status;
      return `${connection} ${model}${note === null ? "" : ` (${note})`}`;
    });
    return `${id.padEnd(12)} ${names.join(", then ")}`;
  });
}
