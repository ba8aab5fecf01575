// Shows the purposes of an app, a key or a route, and their form fields.
import { element, table } from "../page/element.ts";
import { dataPolicyField } from "./data-policy-field.ts";
import type { Field } from "./form-view.ts";
import { type KnownRoutes, routeField } from "./route-choice.ts";
import type { Purpose } from "./route-shape.ts";
import { mark } from "./words.ts";

/** Of an app, a key or a route. `nameOf` links to the form that changes it. */
export function purposeTable(
  purposes: readonly Purpose[],
  caption: string,
  nameOf: (purpose: string) => Node | string,
): HTMLElement {
  return table(
    caption,
    ["Purpose", "Route", "State", "Defaults"],
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

interface PurposeHints {
  /** Labels already in use. */
  readonly taken: readonly string[];
  /** Preset route of a new purpose. */
  readonly route: string | null;
}

/** `prefix`: precedes the field names in a refusal. */
export function purposeFields(
  purpose: Purpose | null,
  routes: KnownRoutes,
  prefix: string,
  { taken, route }: PurposeHints = { taken: [], route: null },
): readonly Field[] {
  const { defaults = {} } = purpose ?? {};
  return [
    {
      kind: "text",
      name: `${prefix}purpose`,
      label: "Label",
      isRequired: true,
      placeholder: "meetings",
      hint: "Name that callers send.",
      fault: (typed) => (taken.includes(typed) ? `There is already a purpose ${typed}.` : null),
      value: purpose?.purpose ?? "",
    },
    {
      kind: "text",
      name: `${prefix}description`,
      label: "Description",
      hint: "Shown to callers in GET /v1/me.",
      value: purpose?.description ?? "",
    },
    routeField(routes, {
      name: `${prefix}route`,
      label: "Route",
      hint: "Route of requests with this purpose.",
      value: purpose?.route ?? route,
      none: null,
    }),
    {
      kind: "check",
      name: `${prefix}is_enabled`,
      label: "Enabled",
      hint: "A disabled purpose is not applied.",
      value: purpose?.is_enabled ?? true,
    },
    {
      kind: "check",
      name: `${prefix}is_published`,
      label: "Published",
      hint: "An unpublished purpose is neither listed nor applied.",
      value: purpose?.is_published ?? true,
    },
    {
      kind: "json",
      name: `${prefix}defaults`,
      label: "Defaults",
      hint: "Default values of request fields.",
      placeholder: '{"diarization": true}',
      ...(Object.keys(defaults).length === 0 ? {} : { value: JSON.stringify(defaults, null, 2) }),
    },
    dataPolicyField(`${prefix}data_policy`, purpose?.data_policy),
  ];
}
