// The setup checklist of a new installation or workspace; empty once a request has been served.
import type { AppView } from "../contract/admin/apps.ts";
import type { ConnectionView } from "../contract/admin/connections.ts";
import type { KeyView } from "../contract/admin/keys.ts";
import type { RouteView } from "../contract/admin/routes.ts";
import type { WorkspaceUsage } from "../contract/usage.ts";
import { element } from "../page/element.ts";
import { connectionsServing } from "./route-shape.ts";
import type { Page, Visit } from "./visit.ts";
import { fewOf, link, mark, part } from "./words.ts";

interface Step {
  readonly isDone: boolean;
  /** The completed step, or the next one. */
  readonly text: string;
  readonly href: string;
  readonly label: string;
}

interface PlatformSetUp {
  readonly connections: Page<ConnectionView>;
  readonly routes: Page<RouteView>;
  readonly usage: WorkspaceUsage;
}

/** `isSandboxAlone`: routes lead to the sandbox but to no real provider, and none has answered. */
export function platformSteps(
  visit: Visit,
  { connections, routes, usage }: PlatformSetUp,
): { readonly nodes: readonly Node[]; readonly isSandboxAlone: boolean } {
  const real = connections.data.filter(isReal).map(({ id }) => id);
  const using = routes.data
    .filter((route) => connectionsServing(route).some((id) => real.includes(id)))
    .map(({ id }) => id);
  // A workspace may have its own connections and routes, which are in neither list.
  const isReached = isServed(usage);
  const steps: readonly Step[] = [
    {
      isDone: real.length > 0,
      text: real.length > 0 ? `A provider is connected: ${fewOf(real)}.` : "Connect a provider.",
      href: visit.link("connections"),
      label: "Connections",
    },
    {
      isDone: using.length > 0,
      text:
        using.length > 0 ? `A published route uses it: ${fewOf(using)}.` : "Publish a route with one of its models.",
      href: visit.link("routes"),
      label: "Routes",
    },
    {
      isDone: isReached,
      text: "Send a request with an app key. No provider answered one in the last 30 days.",
      href: visit.link("workspaces"),
      label: "Workspaces",
    },
  ];
  const simulated = new Set(connections.data.filter(({ kind }) => kind === "sandbox").map(({ id }) => id));
  const isSimulated = routes.data.some((route) => connectionsServing(route).some((id) => simulated.has(id)));
  const isSandboxAlone = isSimulated && using.length === 0 && !isReached;
  return { nodes: isReached ? [] : [stepsView(steps)], isSandboxAlone };
}

interface WorkspaceSetUp {
  readonly apps: Page<AppView>;
  /** Active app keys. */
  readonly keys: Page<KeyView>;
  readonly usage: WorkspaceUsage;
}

export function workspaceSteps(visit: Visit, { apps, keys, usage }: WorkspaceSetUp): readonly Node[] {
  // The last use of a key is written periodically, a call at once.
  const isUsed = usage.totals.length > 0 || keys.data.some(({ last_used_at: usedAt }) => usedAt !== null);
  const steps: readonly Step[] = [
    {
      isDone: apps.data.length > 0,
      text: apps.data.length > 0 ? `An app exists: ${fewOf(apps.data.map(({ slug }) => slug))}.` : "Create an app.",
      href: visit.link("apps"),
      label: "Apps",
    },
    {
      isDone: keys.data.length > 0,
      text: keys.data.length > 0 ? "An app has an active key." : "Create a key for the app.",
      href: visit.link("keys"),
      label: "Keys",
    },
    visit.scope.listener === "public"
      ? { isDone: isUsed, text: "Send the first request with that key.", href: "/playground", label: "Playground" }
      : {
          isDone: isUsed,
          text: "Send the first request with that key. Rejected requests are logged, too.",
          href: visit.link("requests"),
          label: "Requests",
        },
  ];
  return steps.every(({ isDone }) => isDone) ? [] : [stepsView(steps)];
}

/** Whether a real provider, not the sandbox, answered a call in the last 30 days. */
function isServed({ totals }: WorkspaceUsage): boolean {
  return totals.some(({ billing_class: billing, attempts, failed }) => billing !== "simulated" && attempts > failed);
}

function stepsView(steps: readonly Step[]): HTMLElement {
  const items = steps.map(({ isDone, text, href, label }) =>
    element(
      "li",
      {},
      mark(isDone ? "good" : "soft", isDone ? "done" : "to do"),
      ` ${text} `,
      ...(isDone ? [] : [link(href, label)]),
    ),
  );
  return part("Getting started", element("ol", { class: "steps" }, ...items));
}

/** A callable connection: a self-hosted server may need no credential. */
function isReal({ kind, has_credential: hasCredential }: ConnectionView): boolean {
  return kind === "openai-compatible" || (kind !== "sandbox" && hasCredential);
}
