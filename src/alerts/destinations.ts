// The destinations of alerts, from the configuration: those of the operator, and those of workspaces.
import { createHash, hkdfSync } from "node:crypto";
import type { Configuration } from "../config/configuration.ts";
import type { Alert } from "./alert.ts";

export interface Destination {
  /** Hash of owner and URL: identifies the destination in the database, wherever it is in the file. */
  readonly id: string;
  /** Slug of the owner. Null: the operator. */
  readonly workspace: string | null;
  /** Its place in the configuration, for logs and commands, because the URL may contain a token. */
  readonly place: string;
  readonly url: string;
  readonly events: ReadonlySet<string>;
  readonly secret: string;
  /** Whether the secret is derived, not configured. */
  readonly hasDerivedSecret: boolean;
}

/** `pepper` is the installation's: every process derives the same secrets from it [alerts.secret]. */
export function alertDestinations(
  { alerts, workspaces }: Pick<Configuration, "alerts" | "workspaces">,
  pepper: Buffer,
): readonly Destination[] {
  return [
    ...alerts.map((each, index) => destinationOf(each, null, `alerts[${index}]`, pepper)),
    ...workspaces.flatMap((workspace) =>
      workspace.alerts.map((each, index) =>
        destinationOf(each, workspace.id, `${workspace.id}: alerts[${index}]`, pepper),
      ),
    ),
  ];
}

/** A workspace hears of itself only [alerts.workspace]. */
export function receives({ events, workspace }: Destination, alert: Alert): boolean {
  return events.has(alert.event) && (workspace === null || workspace === alert.workspace?.slug);
}

type Configured = Pick<Configuration["alerts"][number], "url" | "secret"> & { readonly events: readonly string[] };

function destinationOf(
  { url, events, secret }: Configured,
  workspace: string | null,
  place: string,
  pepper: Buffer,
): Destination {
  const id = createHash("sha256")
    .update(JSON.stringify([workspace, url]))
    .digest("hex")
    .slice(0, 32);
  return {
    id,
    workspace,
    place,
    url,
    events: new Set(events),
    secret: secret ?? derivedSecret(pepper, id),
    hasDerivedSecret: secret === null,
  };
}

function derivedSecret(pepper: Buffer, id: string): string {
  const key = hkdfSync("sha256", pepper, "", `patchbay alert destination 1 ${id}`, 32);
  return `whsec_${Buffer.from(key).toString("base64")}`;
}
