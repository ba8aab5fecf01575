// Purposes bound to one app: listed, added, changed, taken away. Each is a change of the whole app.
import type { AppView } from "../contract/apps.ts";
import type { Outcome } from "../page/ask.ts";
import { element, table } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { appLink, pathOf, settingsOf } from "./app-form.ts";
import { type Field, formView } from "./form-view.ts";
import { isOfFile } from "./owner-view.ts";
import { type KnownRoutes, readRoutes, routeField } from "./route-choice.ts";
import type { Visit } from "./visit.ts";
import { link, mark, part } from "./words.ts";

type Purpose = AppView["purposes"][number];

/** Of an app or a key. `nameOf` links to it where it can be changed. */
export function purposeTable(
  purposes: readonly Purpose[],
  caption: string,
  nameOf: (purpose: string) => Node | string,
): HTMLElement {
  return table(
    caption,
    ["Purpose", "Route", "State", "What it fills in"],
    purposes.map((purpose) => [
      element(
        "div",
        {},
        nameOf(purpose.purpose),
        element("br"),
        element("span", { class: "soft" }, purpose.description),
      ),
      purpose.route,
      stateOf(purpose),
      Object.keys(purpose.defaults).join(", ") || "–",
    ]),
  );
}

function stateOf({ is_enabled: isEnabled, is_published: isPublished }: Purpose): HTMLElement {
  if (!isEnabled) return mark("soft", "disabled");
  return isPublished ? mark("good", "offered") : mark("soft", "not published");
}

export function purposesPart(visit: Visit, app: AppView): HTMLElement {
  const isOwn = !isOfFile(app);
  const nameOf = (purpose: string): Node | string =>
    isOwn ? link(appLink(visit, app, "purposes", purpose), purpose) : purpose;
  const toAdd = element("a", { href: appLink(visit, app, "purposes"), class: "button" }, "Add a purpose");
  return part(
    "Purposes of its own",
    app.purposes.length === 0
      ? element("p", { class: "soft" }, "None. Those that its routes publish can be sent all the same.")
      : purposeTable(app.purposes, "Bound to this app, on each of its routes", nameOf),
    ...(isOwn ? [element("p", {}, toAdd)] : []),
  );
}

/** `label` null: a new one. */
export async function changePurpose(visit: Visit, name: string, label: string | null): Promise<readonly Node[]> {
  const [{ data: app, etag }, routes] = await Promise.all([
    visit.readWithEtag<AppView>(pathOf(name)),
    readRoutes(visit),
  ]);
  const back = link(appLink(visit, app), `The app ${app.slug}`);
  const found = app.purposes.findIndex(({ purpose }) => purpose === label);
  if (label !== null && found === -1)
    return [back, element("p", { class: "empty" }, `${app.slug} has no purpose “${label}” of its own.`)];
  const at = label === null ? app.purposes.length : found;
  const purposes: readonly unknown[] = app.purposes;
  const put = (given: readonly unknown[]): Promise<Outcome<AppView>> =>
    visit.ask("PUT", pathOf(name), { body: { ...settingsOf(app), purposes: given }, ifMatch: etag });
  const leave = (said: string) => (): void => {
    visit.say(said);
    visit.go(appLink(visit, app));
  };
  const form = formView<AppView>({
    fields: fieldsOf(app.purposes[at] ?? null, at, routes),
    submit: "Save the purpose",
    send: (body) => put(purposes.toSpliced(at, 1, body[`purposes[${at}]`])),
    done: leave("The purpose is saved. Every process goes by it within seconds."),
    again: () => visit.redraw(),
  });
  if (label === null) return [back, part(`Add a purpose to ${app.slug}`, form)];
  const isDefault = app.default_purpose === label;
  const removal = actionView<AppView>({
    label: "Remove the purpose",
    title: `Remove the purpose ${label} from ${app.slug}?`,
    what: `Requests that send it ${app.audio_purpose_policy === "strict" ? "are refused" : "go on without it"} from now on, unless a route publishes it too.${isDefault ? " It is the app's default purpose." : ""}`,
    run: () => put(purposes.toSpliced(at, 1)),
    done: leave(`The purpose ${label} is removed.`),
    again: () => visit.redraw(),
  });
  return [back, part(`The purpose ${label}`, form), part("Remove it", removal)];
}

/** Named as the refusal of the whole app names them. */
function fieldsOf(purpose: Purpose | null, at: number, routes: KnownRoutes): readonly Field[] {
  const here = `purposes[${at}]`;
  const { defaults = {} } = purpose ?? {};
  return [
    {
      kind: "text",
      name: `${here}.purpose`,
      label: "Label",
      isRequired: true,
      placeholder: "meetings",
      hint: "What callers send.",
      value: purpose?.purpose ?? "",
    },
    {
      kind: "text",
      name: `${here}.description`,
      label: "Description",
      hint: "Callers read it in GET /v1/me.",
      value: purpose?.description ?? "",
    },
    routeField(routes, {
      name: `${here}.route`,
      label: "Route",
      hint: "Where requests with this purpose go.",
      value: purpose?.route ?? null,
      none: null,
    }),
    {
      kind: "check",
      name: `${here}.is_enabled`,
      label: "Enabled",
      hint: "A disabled one is not applied.",
      value: purpose?.is_enabled ?? true,
    },
    {
      kind: "check",
      name: `${here}.is_published`,
      label: "Published",
      hint: "One that is not published is neither listed nor applied.",
      value: purpose?.is_published ?? true,
    },
    {
      kind: "json",
      name: `${here}.defaults`,
      label: "What it fills in",
      hint: "Fields of a request, where the request is silent.",
      placeholder: '{"diarization": true}',
      ...(Object.keys(defaults).length === 0 ? {} : { value: JSON.stringify(defaults, null, 2) }),
    },
  ];
}
