// Edits a route as a form or as JSON. Saving creates a new version, a draft that is not published yet.
import type { RouteView } from "../contract/admin/routes.ts";
import type { AssignableModels, AssignableModel } from "../contract/admin/workspace-models.ts";
import type { Outcome } from "../page/ask.ts";
import { element } from "../page/element.ts";
import { sendConfirmingEnd } from "./confirm-ending.ts";
import { dataPolicyField } from "./data-policy-field.ts";
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
      hint: "Referenced by apps, keys and purposes. Cannot be changed later.",
    },
    send: (body) => visit.ask("POST", "/routes", { body }),
    done: ({ id }) => {
      visit.say(`${id} was created as a draft. Publish it to make it live.`);
      visit.go(visit.link("routes", [id]));
    },
  };
  return [backLink, part("New route", editorView(editor, NEW_ROUTE))];
}

function noModelYet(visit: Visit): HTMLElement {
  const reason = "A route needs models, and no connection offers one yet. Connect a provider or declare its models. ";
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
      `New version of ${id}`,
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
        `Based on version ${version ?? ""}, which is live. `,
        ...(draft === null ? [] : [to("draft", `Start from the draft, version ${draft.version}`), "."]),
      ),
    ];
  return [
    element(
      "p",
      {},
      `Based on version ${draft?.version ?? ""}, a draft. `,
      ...(version === null ? [] : [to("live", `Start from version ${version}, which is live`), "."]),
    ),
  ];
}

/** Opens the comparison with the live version, if the draft can be published. */
function afterSaving(visit: Visit, before: RouteView, { id, version, draft }: RouteView): void {
  if (draft === null) {
    visit.say("No changes to the live version, so no version was saved.");
    return visit.go(visit.link("routes", [id]));
  }
  visit.say(
    draft.version === before.draft?.version
      ? `No changes to version ${draft.version}, the draft, so no version was saved.`
      : `Version ${draft.version} was saved as a draft. Publish it to make it live.`,
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
      submit: "Save draft",
      send: (input) => sendConfirmingEnd(editor.send, withHiddenFields(input)),
      done: editor.done,
      again: () => editor.visit.redraw(),
      also: { label: "Edit as JSON", press: (input) => show(asJson(withHiddenFields(input))) },
    });
  };
  const asJson = (from: Body): HTMLElement =>
    formView<RouteView>({
      fields: [
        {
          kind: "json",
          name: "definition",
          label: "Route",
          isRequired: true,
          hint: "JSON, in the format of the configuration file.",
          value: JSON.stringify(from, null, 2),
        },
      ],
      submit: "Save draft",
      send: ({ definition: written }) => sendConfirmingEnd(editor.send, written as Body),
      done: editor.done,
      again: () => editor.visit.redraw(),
      also: {
        label: "Edit as form",
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
      label: "Targets, in order of preference",
      hint: "Targets that lack a requested feature are skipped. After a failure the next target is tried.",
      ...rows,
    },
    ...SWITCHES.map(([name, label, hint]): Field => ({ kind: "check", name, label, hint, value: from[name] === true })),
    dataPolicyField("data_policy", from["data_policy"]),
    ...(weak.length === 0
      ? []
      : [
          {
            kind: "checks",
            name: "accept_weak",
            label: "Accept weak emulation for",
            hint: "A weak emulation delivers less than the feature promises. If not selected, such targets are skipped.",
            choices: weak.map((name) => [name, name] as const),
            value: accepted,
          } satisfies Field,
        ]),
  ];
}
