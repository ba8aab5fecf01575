// All workspaces, for the operator: create, change the plan, remove.
import type { PlanView } from "../contract/admin/plans.ts";
import type { WorkspaceView } from "../contract/admin/workspaces.ts";
import { element } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { HOME, linkTo, NEW } from "./address.ts";
import { type Field, formView } from "./form-view.ts";
import { listView } from "./list-view.ts";
import { fileNotice, fileTag, isOfFile } from "./owner-view.ts";
import type { Page, Visit } from "./visit.ts";
import { buttonLink, factList, link, orNone, part, timeView } from "./words.ts";

export function showWorkspaces(visit: Visit): Promise<readonly Node[]> {
  const [name] = visit.path;
  if (name === undefined) return list(visit);
  return name === NEW ? make(visit) : one(visit, name);
}

async function list(visit: Visit): Promise<readonly Node[]> {
  const workspaces = await listView<WorkspaceView>(visit, {
    caption: "Workspaces, newest first",
    path: "/workspaces",
    heads: ["Workspace", "Plan", "Created", "Overview"],
    row: (workspace) => [
      element("div", {}, link(pageOf(visit, workspace), workspace.slug), ...fileTag(workspace)),
      orNone(workspace.plan),
      timeView(workspace.created_at),
      link(linkTo(workspace.slug, HOME), `Overview of ${workspace.slug}`),
    ],
    empty: "No workspaces yet. Each customer or team has its own workspace with apps, keys, routes and usage.",
  });
  return [element("p", {}, buttonLink(visit.link("workspaces", [NEW]), "Create a workspace")), workspaces];
}

const pageOf = (visit: Visit, { slug, id }: WorkspaceView): string =>
  visit.link("workspaces", [slug === NEW ? id : slug]);

async function make(visit: Visit): Promise<readonly Node[]> {
  const form = formView<WorkspaceView>({
    fields: [
      {
        kind: "text",
        name: "slug",
        label: "Slug",
        isRequired: true,
        placeholder: "acme",
        hint: "Used in URLs and commands. Cannot be changed later.",
      },
      await planField(visit, null),
    ],
    submit: "Create workspace",
    send: (body) => visit.ask("POST", "/workspaces", { body }),
    done: async (newWorkspace) => {
      await visit.placesChanged();
      visit.say(`The workspace ${newWorkspace.slug} was created. Next: create an app and a key.`);
      visit.go(pageOf(visit, newWorkspace));
    },
  });
  return [link(visit.link("workspaces"), "All workspaces"), part("Create a workspace", form)];
}

async function planField(visit: Visit, plan: string | null): Promise<Field> {
  const common = { name: "plan", label: "Plan", ...(plan === null ? {} : { value: plan }) };
  const hint = "Included usage and credits. Without a plan, credits are not checked.";
  const { data, next_cursor: more } = await visit.read<Page<PlanView>>("/plans?limit=100");
  const ids = data.map(({ id }) => id);
  if (more !== null) return { kind: "text", ...common, hint, suggestions: ids };
  return { kind: "select", ...common, hint, choices: [["", "none"], ...ids.map((id) => [id, id] as const)] };
}

async function one(visit: Visit, name: string): Promise<readonly Node[]> {
  const path = `/workspaces/${encodeURIComponent(name)}`;
  const { data: workspace, etag } = await visit.readWithEtag<WorkspaceView>(path);
  const { slug, id, plan } = workspace;
  const facts = factList([
    ["Slug", element("div", {}, slug, ...fileTag(workspace))],
    ["Id", element("code", {}, id)],
    ["Plan", orNone(plan)],
    ["Created", timeView(workspace.created_at)],
  ]);
  const inside = element(
    "p",
    { class: "row wrap" },
    link(linkTo(slug, HOME), "Overview"),
    link(linkTo(slug, "apps"), "Apps"),
    link(linkTo(slug, "keys"), "Keys"),
  );
  const head = [link(visit.link("workspaces"), "All workspaces"), part(`Workspace ${slug}`, facts, inside)];
  if (isOfFile(workspace)) return [...head, fileNotice("workspace", "You can still create apps and keys in it.")];
  const change = formView<WorkspaceView>({
    fields: [await planField(visit, plan)],
    submit: "Change plan",
    send: (body) => visit.ask("PUT", path, { body, ifMatch: etag }),
    done: async (changed) => {
      await visit.redraw();
      visit.say(
        changed.plan === null
          ? `${slug} has no plan.`
          : `${slug} is on the plan ${changed.plan}. It applies immediately.`,
      );
    },
    again: () => visit.redraw(),
  });
  return [...head, part("Plan", change), part("Remove", removal(visit, path, workspace))];
}

function removal(visit: Visit, path: string, { slug }: WorkspaceView): HTMLElement {
  const action = actionView({
    label: "Remove workspace",
    title: `Remove the workspace ${slug}?`,
    what: "Its administrator keys stop working. Its webhook, allowlist, connections and routes are removed. Its audit log, requests and usage are kept. This cannot be undone.",
    run: () => visit.ask("DELETE", path),
    done: async () => {
      await visit.placesChanged();
      visit.say(`The workspace ${slug} was removed.`);
      visit.go(visit.link("workspaces"));
    },
    help: (code) =>
      code === "CONFLICT"
        ? link(linkTo(slug, "apps"), `The apps of ${slug}: revoke their keys and remove them first`)
        : null,
  });
  return element("div", {}, element("p", {}, "Only a workspace without apps can be removed."), action);
}
