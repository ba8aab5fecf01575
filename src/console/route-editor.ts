// Edits a route as a form or as JSON. Saving creates a new version, a draft that is not published yet.
import type { RouteView } from "../contract/admin/routes.ts";
import type { AssignableModels, AssignableModel } from "../contract/admin/workspace-models.ts";
import type { Outcome } from "../page/ask.ts";
import { element } from "../page/element.ts";
import { type Field, formView } from "./form-view.ts";
import { fileNotice, isOfFile } from "./owner-view.ts";
import { asDefinition, type Definition, NEW_ROUTE, routePath, SWITCHES, writtenRoute } from "./route-shape.ts";
import { targetRows } from "./target-rows.ts";
import type { Visit } from "./visit.ts";
import { link, part } from "./words.ts";
import { wholeBody } from "./whole-body.ts";

type Body = Readonly<Record<string, unknown>>;

interface Editor {
  readonly visit: Visit;
  readonly models: readonly AssignableModel[];
  /** For a new route. Null: it has an id. */
  readonly idField: Field | null;
  readonly send: (body: Body) => Promise<Outcome<RouteView>>;
  readonly done: (route: RouteView) => void;
}

export async function makeRoute(visit: Visit): Promise<readonly Node[]> {
  const { data: models } = await visit.read<AssignableModels>("/models");
  const backLink = link(visit.link("routes"), "All routes");
  if (models.every(({ connection }) => connection === null)) return [backLink, noModelYet(visit)];
  const editor: Editor = {
    visit,
    models,
    idField: {
      kind: "text",
      name: "id",
      label: "Name",
      isRequired: true,
      placeholder: "speech",
      hint: "Apps, keys and purposes name it so. It stays.",
    },
    send: (body) => visit.ask("POST", "/routes", { body }),
    done: ({ id }) => {
      visit.say(`${id} is made. It is a draft: publish it, and it serves.`);
      visit.go(visit.link("routes", [id]));
    },
  };
  return [backLink, part("A new route", editorView(editor, NEW_ROUTE))];
}

function noModelYet(visit: Visit): HTMLElement {
  const reason = "A route leads to models, and no connection has one yet: connect a provider, or declare what it has. ";
  return element("p", { class: "empty" }, reason, link(visit.link("connections"), "Connections"));
}

export async function editRoute(visit: Visit, id: string): Promise<readonly Node[]> {
  const [{ data: route, etag }, { data: models }] = await Promise.all([
    visit.readWithEtag<RouteView>(routePath(id)),
    visit.read<AssignableModels>("/models"),
  ]);
  const backLink = link(visit.link("routes", [id]), `The route ${id}`);
  if (isOfFile(route)) return [backLink, fileNotice("route")];
  const { definition, draft } = route;
  const begin = visit.query.get("begin") === "live" || draft === null ? definition : draft.definition;
  const { id: _, ...written } = asDefinition(begin ?? NEW_ROUTE);
  const editor: Editor = {
    visit,
    models,
    idField: null,
    send: (body) => visit.ask("PUT", routePath(id), { body, ifMatch: etag }),
    done: (saved) => afterSaving(visit, route, saved),
  };
  return [
    backLink,
    part(
      `A new version of ${id}`,
      ...beginView(visit, route, begin === definition),
      editorView(editor, asDefinition(written)),
    ),
  ];
}

/** The version that the form started from, and a link to the alternative. */
function beginView(visit: Visit, { id, draft, version }: RouteView, isLive: boolean): readonly Node[] {
  const to = (begin: string, text: string) => link(visit.link("routes", [id, "edit"], { begin }), text);
  if (isLive)
    return [
      element(
        "p",
        {},
        `It begins as version ${version ?? ""}, which serves. `,
        ...(draft === null ? [] : [to("draft", `Begin with the draft, version ${draft.version}`), "."]),
      ),
    ];
  return [
    element(
      "p",
      {},
      `It begins as version ${draft?.version ?? ""}, a draft that serves nobody. `,
      ...(version === null ? [] : [to("live", `Begin with version ${version}, which serves`), "."]),
    ),
  ];
}

/** Opens the comparison with the live version, if the draft can be published. */
function afterSaving(visit: Visit, before: RouteView, { id, version, draft }: RouteView): void {
  if (draft === null) {
    visit.say("Nothing differs from what serves, so no version was written.");
    return visit.go(visit.link("routes", [id]));
  }
  visit.say(
    draft.version === before.draft?.version
      ? `Nothing differs from version ${draft.version}, the draft, so no version was written.`
      : `Version ${draft.version} is written. It serves nobody until it is published.`,
  );
  if (version === null) return visit.go(visit.link("routes", [id]));
  visit.go(visit.link("routes", [id, "compare"], { from: `${version}`, to: `${draft.version}` }));
}

/** Both editors share one state: switching carries the edits over. */
function editorView(editor: Editor, definition: Definition): HTMLElement {
  const box = element("div", {});
  const show = (form: HTMLElement): void => {
    box.replaceChildren(form);
    form.querySelector<HTMLElement>("input, select, textarea")?.focus();
  };
  const asForm = (from: Definition): HTMLElement => {
    const fields = fieldsOf(editor, from);
    const withHiddenFields = (input: Body) =>
      wholeBody(
        from,
        fields.map(({ name }) => name),
        input,
      );
    return formView<RouteView>({
      fields,
      submit: "Save as a draft",
      send: (input) => editor.send(withHiddenFields(input)),
      done: editor.done,
      again: () => editor.visit.redraw(),
      also: { label: "Write it as JSON", press: (input) => show(asJson(withHiddenFields(input))) },
    });
  };
  const asJson = (from: Body): HTMLElement =>
    formView<RouteView>({
      fields: [
        {
          kind: "json",
          name: "definition",
          label: "The route",
          isRequired: true,
          hint: "As the configuration file has it, in JSON.",
          value: JSON.stringify(from, null, 2),
        },
      ],
      submit: "Save as a draft",
      send: ({ definition: written }) => editor.send(written as Body),
      done: editor.done,
      again: () => editor.visit.redraw(),
      also: {
        label: "Write it as a form",
        press: ({ definition: written }) => show(asForm(writtenRoute(written))),
      },
    });
  box.append(asForm(definition));
  return box;
}

function fieldsOf({ visit, models, idField }: Editor, from: Definition): readonly Field[] {
  const rows = targetRows(models, from.targets, (text) => visit.say(text));
  const accepted = Array.isArray(from["accept_weak"]) ? (from["accept_weak"] as readonly string[]) : [];
  const weak = [...new Set([...models.flatMap(({ weak_features: names }) => names), ...accepted])].toSorted();
  const { id } = from;
  return [
    ...(idField === null
      ? []
      : [typeof id === "string" && idField.kind === "text" ? { ...idField, value: id } : idField]),
    {
      kind: "custom",
      name: "targets",
      label: "Targets, in the order they are tried",
      hint: "A target that cannot do what a request needs is passed over; after a failure the next one is tried.",
      ...rows,
    },
    ...SWITCHES.map(([name, label, hint]): Field => ({ kind: "check", name, label, hint, value: from[name] === true })),
    ...(weak.length === 0
      ? []
      : [
          {
            kind: "checks",
            name: "accept_weak",
            label: "Features for which a weak emulation counts",
            hint: "Weak: it gives less than the feature promises. Where it is not ticked, such a target is passed over.",
            choices: weak.map((name) => [name, name] as const),
            value: accepted,
          } satisfies Field,
        ]),
  ];
}
